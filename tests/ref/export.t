#!/bin/sh
# SPDX-License-Identifier: MIT
# Every Chrome trace among the reference data comes back as the same JSON value,
# through a stream and through a tree.
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'

# check FILE NAME: into NAME.out; one line for a source that isn't equal.
check() {
	same=$ROOT/tests/oracle/same_json.py
	if ! tl-decode "$1" >"$2.tl" 2>/dev/null; then
		case $1 in */not_a_trace/*) echo none ;; *) echo "no trace: $1" ;; esac
	elif tl-cat --header "$2.tl" | grep -q '"rocprofv3"'; then
		echo other
	elif ! tl-export "$2.tl" >"$2.json"; then
		echo "export fails: $1"
	elif ! python3 "$same" -a "$1" "$2.json"; then
		echo "differs: $1"
	elif ! tl-tree "$2.tl" 2>/dev/null | tl-export --sort id |
		cmp -s - "$2.json"; then
		echo "the tree differs: $1"
	else
		echo same
	fi >"$2.out" 2>&1
	rm -f "$2.tl" "$2.json"
}

# odd|even: two at a time
half() {
	n=0
	while read -r file; do
		n=$((n + 1))
		[ $((n % 2)) -eq "$1" ] && check "$file" "$1.$n"
	done <list
}

most=700k
! slow || most=2000k # two are larger
! everything || most=1000000k
find -L "$TL_DATA" -type f \( -name '*.json' -o -name '*.gz' \) -size "-$most" \
	! -path '*/reference/*' | sort >list
half 0 &
half 1
wait
cat ./*.out >all
n=0
while read -r file; do
	n=$((n + 1))
	case $file in */chrome_*) cat "$((n % 2)).$n.out" ;; esac
done <list | grep -c -x same >chrome
is 'all come back' "$(grep -v -x -e same -e none -e other all)" ''
is 'all of the folders chrome_*' "$(grep -c /chrome_ list) $(cat chrome)" "$(
	n=$(grep -c /chrome_ list); echo "$n $n")"
is 'at least 60 traces' "$([ "$(grep -c -x same all)" -ge 60 ] && echo yes)" yes
diag "$(grep -c -x same all) traces equal"
done_testing
