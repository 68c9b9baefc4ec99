#!/bin/sh
# SPDX-License-Identifier: MIT
# XPlane files: planes, lines and events against another reader's dumps, the
# timelines of GPUs and TPUs, and damaged files.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
tpu=$TL_DATA/xprof_tpu_inference_v1/tpu_inference_2.xplane.pb

# ---- all that is in the file ----
while read -r name want; do
	for file in "$TL_DATA/$name"/*.xplane.pb; do
		is "$name: planes, lines and names, to the ps where that is whole ns" \
			"$(tl-decode "$file" | tl-cat | python3 "$ROOT/tests/oracle/xplane_dump.py" \
				"$TL_DATA/$name/reference/xplane_dump")" "$want"
	done
done <<'END'
jax08_gemm ok 7 122 3782 0.000
jax_conv_minimal_08 ok 43 324 3650 0.000
jax_conv_minimal_legacy ok 22 243 6024 0.000
xprof_tpu_inference_v1 ok 135 1093 26723 18.072
END
tl-decode "$tpu" >tpu.tl
is 'TPU: a launch on the host for each run of a module, and all ops are in one' "$(tl-cat tpu.tl | jq -n '
	[inputs | select(.kind == "runtime") | .corr] as $launches | {launches: $launches | length, distinct: $launches | unique | length}' -c)" \
	'{"launches":414,"distinct":414}'
is 'TPU: ops without a run' "$(tl-cat --tsv -F kind,corr --no-header tpu.tl |
	awk -F'\t' '$1 == "kernel" || $1 == "memcpy" { n[$2 == ""]++ } END { print n[0] + 0, n[1] + 0 }')" '6613 0'

# ---- timelines ----
# of DEV: a GPU's part of a timeline, in ns
of() {
	awk -F'\t' -v dev="$1" '$1 == dev && $2 ~ /^(computation|exposed_comm|exposed_memcpy|busy|total)_time/ { printf "%s ", $3 }'
}
tl-timeline --by dev tpu.tl >tpu.tsv
is "TPU:0" "$(of 0 <tpu.tsv)" "2371482594 365076257 76048369505 78784928356 92477083032 "
is "TPU:1" "$(of 1 <tpu.tsv)" "2374974705 365112928 76049421688 78789509321 90429589580 "
for name in jax08_gemm jax_conv_minimal_08 jax_conv_minimal_legacy; do
	tl-timeline --by dev "$TL_DATA/$name"/*.xplane.pb 2>/dev/null >ours.tsv
	is "$name: busy and total of each GPU" "$(python3 - "$TL_DATA/$name/reference/jax_report/gpu_timeline.csv" ours.tsv <<'END'
import csv, sys
ours = {(r["dev"], r["type"]): int(r["time_ns"]) for r in csv.DictReader(open(sys.argv[2]), delimiter="\t")}
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["type"] in ("busy_time", "idle_time", "total_time", "total_comm_time")]
bad = [r for r in rows if abs(ours[str(int(float(r["gpu_pid"])) - 1), r["type"]] - float(r["time ms"]) * 1e6) > 1e-3]
print(len(rows) > 0, bad)
END
)" 'True []'
done
is 'copies that ROCm runs as kernels are copies' "$(tl-timeline "$TL_DATA/jax08_gemm"/*.pb |
	awk '/^(computation|exposed_memcpy|busy)_time/ { printf "%s ", $2 }')" '3387604 87880 3475484 '

# ---- damage ----
head -c 131072 "$tpu" >cut.xplane.pb
refuses 1 'byte 113195: field 1 is 75134 bytes long, 17873 are left' 'tl-decode -o x.tl cut.xplane.pb'
is 'cut: no output' "$(test -e x.tl || echo none)" none
tl-decode --salvage -o cut.tl cut.xplane.pb 2>cut.err
is 'cut: exit 3' $? 3
is 'cut: whole events of each TPU' "$(tl-cat cut.tl | jq -n '[inputs | select(.kind != null and .kind != "meta")] |
	group_by(.pid) | map([.[0].pid, length, (map(.tid) | unique | length)])' -c)" '[[3,2317,4],[11,405,2]]'
is 'cut: names stand behind the lines' "$(tl-cat --tsv -F pid,name --no-header cut.tl |
	awk -F'\t' '$1 == 11 && $2 !~ /^#/ && $2 !~ /_name$/' | wc -l)" 0
head -c 200000 "$tpu" | tl-decode --salvage -o cut2.tl 2>/dev/null
is 'cut: from a pipe' "$(tl-cat cut2.tl | jq -n '[inputs | select(.kind != null and .kind != "meta")] |
	group_by(.pid) | map([.[0].pid, length])' -c)" '[[3,2317],[11,1712],[19,238]]'
mangled=$TL_DATA/xprof_tpu_inference_mangled/tpu_inference_2_mangled_head.xplane.pb
refuses 1 'bytes were replaced when the file was copied as text; get the original$' "tl-decode -o x.tl $mangled"
refuses 1 'bytes were replaced when the file was copied as text; get the original$' "tl-decode --salvage -o x.tl $mangled"
done_testing
