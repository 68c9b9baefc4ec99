#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-filter on the real traces: it keeps what a slow implementation of the
# options keeps. selections.t tests that analysing its output is analysing with
# the options.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'

cat >selections <<'END'

--kind kernel
--kind memcpy,memset
--name '*gemm*'
--rank 0
--dev 0-3
--gpu-stream 0-7
--min-dur 10us
--from 1ms --to 500ms
--from 10ms --by-gpu-time
--step first
--step last --by-gpu-time
--annotation '*'
--annotation '*#2' --kind kernel
END
cat >few <<'END'
--name 'aten::*' --subtree
--from 10ms --to 500ms --kind kernel,runtime
--step last --min-dur 5us
--annotation '*#2' --by-gpu-time
END

# One trace, in a folder of its own: a line with the status and what differs.
cat >one <<'END'
dir=$(mktemp -d) || exit 1
tl-tree "$1" >"$dir/t.tl" 2>/dev/null || { rm -r "$dir"; exit 0; }
here=$PWD
cd "$dir" || exit 1
# all selections for a small trace; for a large one those of different kinds;
# the slow implementation leaves out the largest
size=$(wc -c <t.tl)
[ "$size" -gt "$MOST" ] && { rm -r "$dir"; exit 0; }
cat "$here/few" >slow
[ "$size" -gt "${ALL:-80000}" ] || cat "$here/selections" >>slow
python3 "$ROOT/tests/oracle/filter.py" t.tl <slow >slow.out 2>&1
slow=$?
echo "trace ${1#"$TL_DATA"/}: $slow $(tr '\n' ' ' <slow.out)"
rm -r "$dir"
END
export MOST=200000
! slow || export MOST=1000000 ALL=150000
find -L "$TL_DATA" -type f \( -name '*.json' -o -name '*.json.gz' \) |
	grep -v '/reference/' | sort |
	xargs -d '\n' -n 1 -P "$(nproc)" sh ./one | sort >answers
while IFS= read -r line; do
	n=${line%%: *}
	case $line in
	*": 0 "*) pass "$n: as the slow one" ;;
	*) fail "$n: as the slow one" && diag "$line" ;;
	esac
done <answers
ok 'there were traces' test -s answers
done_testing
