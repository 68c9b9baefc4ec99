#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-merge | tl-export --fuse equals the reference's trace fusion: event by
# event, every field.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
plan 5

job=$TL_DATA/multirank_cifar_mi300x_4r
fuse() { # OUT OPTION...
	out=$1
	shift
	tl-merge "$@" "$job"/*.json.gz | tl-export --to chrome --fuse -o "$out"
}
fuse a.json --kind kernel,gpu_annotation --name '*nccl*'
ok 'NCCL only, of the upstream repository' python3 \
	"$ROOT/tests/oracle/fused.py" a.json \
	"$TL_DATA/fused_cifar_nccl_only/merged_nccl_only.json.gz"
fuse b.json --kind kernel --name '*nccl*'
ok 'NCCL kernels only' python3 "$ROOT/tests/oracle/fused.py" b.json \
	"$job/reference/fused/fused_nccl_only.json.gz"
fuse c.json --kind kernel,memcpy,memset
ok 'GPU work only' python3 "$ROOT/tests/oracle/fused.py" c.json \
	"$job/reference/fused/fused_gpu_only.json.gz"
fuse d.json
ok 'everything, by the rules' python3 "$ROOT/tests/oracle/fused.py" d.json \
	"$job"/rank?_trace.json.gz
job=$TL_DATA/multirank_dlrm_v100_8r
fuse e.json --align none
ok 'eight ranks' python3 "$ROOT/tests/oracle/fused.py" e.json "$job"/worker*.gz
