# SPDX-License-Identifier: MIT
# tl-tree --mem: the same bytes with less memory.
. tests/cli/lib.sh

# The output, without the line that has the command.
tree() {
	tl-tree "$@" -o out.tl && tl-cat out.tl | sed 1d | cksum || echo "$*"
}

# trees NAME SIZE...: the tree of NAME.tl with and without a limit.
trees() {
	expected=$(tree "$1.tl")
	for size in $2; do
		is "$1 within $size" "$(tree --mem "$size" "$1.tl")" "$expected"
	done
}

tl-gen -s 3 -e 100000 --recompute --streams 3 | tl-decode -o plain.tl
trees plain '4M 5000k 6M 1G' # it has some 7 MB
tl-gen -s 4 -e 60000 --rocprof --processes 3 | tl-decode -o rocprof.tl
trees rocprof 4M
tl-link plain.tl -o linked.tl
trees linked 4M
# from the last event to the first
tl-cat plain.tl >plain.nd
{
	sed -n 1p plain.nd
	grep -n '' plain.nd | grep '^[0-9]*:{"id"' | sort -t: -k1,1nr |
		cut -d: -f2-
	grep -v '^{"id"' plain.nd | sed 1d
} >turned.nd
tl-cat --binary turned.nd -o turned.tl
trees turned 4M
tl-cat --binary plain.tl rocprof.tl -o both.tl
trees both 4M
expected=$(tree --no-python --link flow plain.tl)
is 'by arrows, without frames' \
	"$(tree --mem 4M --no-python --link flow plain.tl)" "$expected"
tl-tree -p plain.tl >want.txt
tl-tree -p --mem 4M plain.tl >got.txt
same 'printed' got.txt want.txt

refuses 2 "'--mem': 100k is too little; at least 4M" \
	'tl-tree --mem 100k plain.tl'
refuses 2 'needs a size' 'tl-tree --mem much plain.tl'
refuses 1 'temporary file in /nowhere \(TMPDIR\): No such file' \
	'TMPDIR=/nowhere tl-tree --mem 4M plain.tl -o out2.tl'
ok 'and nothing is left' test ! -e out2.tl

mkdir tmp
TMPDIR=$TMP/tmp tl-tree --mem 4M plain.tl -o out.tl
is 'no temporary file is left' "$(ls tmp)" ''
refuses 1 'File too large' "trap '' XFSZ; ulimit -f 1000
	tl-tree --mem 4M plain.tl -o out2.tl"
ok 'and nothing is left of it' test ! -e out2.tl

# wrong inside, and too large for its memory
n=3
! slow || n=20
for c in tl-tree 'tl-tree --no-python --link flow' 'tl-link | tl-tree'; do
	ok "mutants: $c" "$T/mutants" -n $n -s "${TL_SEED:-1}" plain.tl linked.tl rocprof.tl -- \
		sh -c "$c | tl-cat | sed 1d" ++ sh -c "$c --mem 4M | tl-cat | sed 1d"
	slow || break
done

case $B in
*/asan* | */tsan*) skip 'memory' 'sanitizers take memory' ;;
*)
	tl-gen -s 3 -e 600000 | tl-decode -o large.tl
	measure large.log tl-tree --mem 4M large.tl -o out.tl
	read -r _ _ _ kib _ <large.log
	ok "600,000 events in $kib KiB: at most 4 + 16 MiB" test "$kib" -le 20480
	;;
esac
# ---- steps that are inferred, and trees from before ----

# 20,000 launches take 5,120,000 bytes at most
awk 'BEGIN {
	for (i = 0; i < 20000; i++) {
		t = 1000 + 20 * i + int(i / 4) * 50
		printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}}\n", t, i
		printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%d\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":%d}}\n", i % 4, t + 8, i
	}
}' | trace >many.json
ninferred() { tl-tree "$@" | tl-cat | grep -c '"cat":"inferred_step"'; }
is 'all steps' "$(ninferred many.json)" 5000
is 'all that memory suffices for' "$(ninferred --mem 6M many.json)" 5000
is 'none if it does not' "$(ninferred --mem 4M many.json 2>/dev/null)" 0
reports 3 steps-not-inferred 'tl-tree --mem 4M many.json -o few.tl'
reports 5 no-steps 'tl-critical --step 1 few.tl'
is 'an old tree is made anew' "$(ninferred --link auto few.tl)" 5000

done_testing
