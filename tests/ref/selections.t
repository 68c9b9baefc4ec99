#!/bin/sh
# SPDX-License-Identifier: MIT
# Filter then analyse is analyse with the same selection: every program that
# reads streams, every option of the selection, on every reference trace. All
# programs get each trace with some of the options, in turn. Another result:
# each program had an answer to each option.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
slow || skip_all 'tests/run --slow'
have_data || skip_all 'no reference traces (TL_DATA)'

selections() {
	sh "$ROOT/tests/oracle/selections.sh" "$@"
}
selections --list >options
selections --programs >programs.list

# one.sh TRACE: in a folder of its own
cat >one.sh <<'END'
n=${1%% *} trace=${1#* }
mkdir "$n" && cd "$n" || exit 1
if tl-tree "$trace" -o t.tl 2>/dev/null; then
	awk -v n="$n" 'NR % 7 == n % 7' ../options | while read -r o; do
		sh "$ROOT/tests/oracle/selections.sh" t.tl "$o"
	done >../$n.out
	sed -i "s|\$|#${trace#"$TL_DATA"/}|" ../$n.out
fi
cd .. && rm -r "$n"
END
find -L "$TL_DATA" -type f \( -name '*.json' -o -name '*.json.gz' \) \
	! -path '*/reference/*' | sort | awk '{ print NR, $0 }' >traces
xargs -d '\n' -n 1 -P "$(nproc)" sh ./one.sh <traces
cat ./*.out >answers

while read -r p; do
	bad=$(grep -v '^ok|' answers | grep -F "$p --")
	is "$p: the same of what was filtered" "$bad" ''
	# options that some can't take, as they are about GPU work, kernels or
	# the host
	case $p in
	tl-roofline*) no='^--kind op|^--name' ;;
	tl-cat* | tl-tree*) no='--kind' ;; # there a choice of lines
	tl-ops*) no='^--kind op' ;;
	tl-timeline* | tl-launch* | tl-fold) no='^--kind op|aten' ;;
	tl-kernels* | tl-modules*) no='^--kind (op|mem)|aten' ;;
	tl-collective*) no='^--kind (op|mem)|^--name|#2|^--phase d' ;;
	*cpu) no='--kind (ker|mem)|^--(dev|gpu-stream)' ;;
	*) no='^$' ;;
	esac
	none=$(grep -Ev "$no" options | while read -r o; do
		grep -qF "ok|$p|$o#" answers || printf '%s; ' "$o"
	done)
	is "$p: has answers" "$none" ''
done <programs.list
is 'nothing else is wrong' "$(grep -v '^ok|' answers | grep -v -F -f programs.list)" ''
done_testing
