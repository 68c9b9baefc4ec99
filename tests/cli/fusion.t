#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-roofline --table fusion_chains: which ops form a chain, and what one kernel
# would save, with figures worked out by hand.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-roofline >/dev/null || skip_all 'tl-roofline is not built'

# 1 TB/s, 100 TFLOP/s
cat >x.json <<'END'
{"name": "X", "mem_bw_gbps": 1000, "max_achievable_mem_bw_gbps": 1000,
 "peak_tflops": {"matrix_fp32": 100, "vector_fp32": 100},
 "max_achievable_tflops": {"matrix_fp32": 100, "vector_fp32": 100}}
END
# trace "OP KERNEL_US SHAPE..." LINE...: each op with its kernel, one after another
trace() {
	python3 - "$@" <<'END'
import json, sys
events, at, gpu = [], 0, 0
for corr, line in enumerate(sys.argv[1:], 1):
    name, us, *dims = line.split()
    dims = [json.loads(d) for d in dims]
    us, wait = (float(x) for x in (us.split("+") + ["0"])[:2])
    events.append({"ph": "X", "cat": "cpu_op", "name": "aten::" + name, "pid": 1, "tid": 1,
                   "ts": at, "dur": 10, "args": {
                       "Input Dims": dims, "Input type": ["float"] * len(dims),
                       "Concrete Inputs": [""] * len(dims)}})
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                   "tid": 1, "ts": at + 2, "dur": 3, "args": {"correlation": corr}})
    gpu = max(gpu, at + 8) + wait
    events.append({"ph": "X", "cat": "kernel", "name": "k_" + name, "pid": 0, "tid": 7,
                   "ts": gpu, "dur": us, "args": {"device": 0, "stream": 7, "correlation": corr}})
    gpu, at = gpu + us, at + 12
print(json.dumps({"traceEvents": events}))
END
}
chains() {
	tl-roofline --arch ./x.json --roof achievable --table fusion_chains --no-header \
		-c "$1" "$2" 2>err | tr '\t' ' '
}
S='[1024,1024]'
mm="mm 100 $S $S"
# Not part of a chain: a matrix product, an op of other sizes, one that comes
# late, a single one.
trace "$mm" "mul 30 $S $S" "relu 20 $S" "$mm" "mul 30 $S $S" "relu 20 $S" \
	"relu 20 [512,512]" "$mm" "relu 20 $S" "$mm" "relu 20 $S" "relu 20+1001 $S" >t.json
is 'a chain, twice' "$(chains chain,input_dims,ops,count,kernels,kernel_ns_sum,first_uid t.json)" \
	"aten::mul > aten::relu [$S,$S] 2 2 4 100000 3"
# mul: 12 MiB, 12.582912 us; relu: 8 MiB, 8.388608 us. Fused: 8 MiB in and 4
# out,
# 12.582912 us, and 15 % of the arithmetic, 2 x 2^20 FLOPs: 0.003145728 us. Of 50 us
# that saves 1 - 12.586057728 / 20.97152: 19.992500 us.
is 'what is saved' "$(chains roofline_ns_sum,fused_ns_sum,saved_ns_sum t.json |
	awk '{ printf "%.3f %.3f %.1f", $1, $2, $3 }')" '41943.040 25172.115 39985.0'
# fused: of 12, 12 and 8 MiB not 4 x 4; the second operand of add is read. Without what
# one writes and the next one reads that is 16.777216 us, and 15 % of 3 x 2^20 FLOPs
trace "mul 30 $S $S" "add 30 $S $S" "relu 20 $S" >three.json
is 'an operand of an op in the middle is read' \
	"$(chains roofline_ns_sum,fused_ns_sum,saved_ns_sum three.json |
		awk '{ printf "%.3f %.3f %.1f", $1, $2, $3 }')" '33554.432 16781.935 39988.8'
# a mean over all writes 4 bytes, which is all that relu can take: 8 bytes less, and 15 %
# of 2 x 2^20 FLOPs
trace "mean 20 $S" "relu 20 $S" >mean.json
is 'what an op writes is less than half' "$(chains roofline_ns_sum,fused_ns_sum mean.json |
	awk '{ printf "%.3f %.3f", $1, $2 }')" '12582.916 12586.054'
trace "mul 30 $S $S" "silu 20 $S" "nll_loss_forward 20 $S [1024]" "silu 20 $S" >nll.json
is 'one that is not known to write is no part' "$(chains chain nll.json)" 'aten::mul > aten::silu'
trace "mul 30 $S $S" "relu 20 $S" "sum 20 $S" "flash_attn_x 9 $S" "relu 9 $S" >r.json
is 'a reduction reads all, and ends a chain as others do' \
	"$(chains chain,ops r.json)" 'aten::mul > aten::relu > aten::sum 3'
is 'one that reads nothing ends a chain' \
	"$(trace "relu 20 $S" "zero_ 10 $S" "$mm" >zero.json && chains chain zero.json)" ''
# it reads 4 bytes of a gradient and 1024 labels, 4100 bytes, and writes 4 MiB: of 8 MiB and
# that 4100 bytes are spared twice, as the rest of what relu writes is not read; and 15 %
# of 2^20 + 1024 FLOPs
trace "relu 20 $S" "nll_loss_backward 20 [] $S [1024]" >part.json
is 'what is not read is not spared' \
	"$(chains roofline_ns_sum,fused_ns_sum part.json |
	awk '{ printf "%.3f %.3f", $1, $2 }')" '12587.012 12580.386'
is 'without chains: no rows' "$(trace "$mm" "$mm" >mm.json && chains chain mm.json)" ''
is 'by the name of the GPU that lacks figures' \
	"$(tl-roofline --table fusion_chains --no-header t.json 2>err | wc -l)" 0
refuses 2 'no column|there is no' "tl-roofline --arch ./x.json --table fusion_chains -c nothing t.json"
done_testing
