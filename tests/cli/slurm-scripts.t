#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/slurm without Slurm: a job of four ranks under xargs, restarted; with
# a rank cut off, a missing one and one that never finishes. tests/slurm/run has
# Slurm.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

S=$ROOT/scripts/slurm
parts() { # parts: every line of the list, two at a time
	seq "$(wc -l <"$1/lists/all")" |
		xargs -n 1 -P 2 "$S/part" "$1" all 2>"$TMP/err"
}
# stamps WORK: the parts with inode and time of change
stamps() {
	find "$1/parts" -name '*.tl' -exec stat -c '%n %i %z' {} + | sort
}

plan 31
tl-gen --ranks 4 --steps 4 --layers 1 -d job # two tell no clocks
tl-collective job -d whole 2>err # what all must come to

# ---- a job ----

is 'a list of a folder' "$("$S/list" w all job)" 4
is 'in the order of ranks' "$(sed 's,.*/,,' w/lists/all | tr '\n' ' ')" \
	'rank-0.json rank-1.json rank-2.json rank-3.json '
ok 'parts by xargs' parts w
ok 'merge' "$S/merge" w
ok 'what one process says of the traces' diff -r whole w/tables
# the job's groups are separate: each has its own clocks, which is a note
is 'no warnings' "$(grep -v ' clocks of 2 sets ' w/warnings)" ''
"$S/merge" w --table nccl_groups -c group,ranks >some
tl-collective job --table nccl_groups -c group,ranks >wanted
same 'merge with options' some wanted

# ---- started again ----

before=$(stamps w)
ok 'again' parts w
is 'finished parts are not done again' "$(stamps w)" "$before"
rm w/parts/all/"$TMP"/job/rank-2.json.tl
touch job/rank-1.json
parts w
is 'one that is gone and one of a newer trace are' "$(stamps w |
	sort | printf '%s\n%s\n' "$before" "$(cat)" | sort | uniq -u |
	sed 's,.*/rank-\(.\).*,\1,' | sort -u | tr '\n' ' ')" '1 2 '
"$S/merge" w
ok 'and the result is the same' diff -r whole w/tables

# ---- ranks that fail ----

mkdir cut
cp job/rank-[013].json cut
head -c 9000 job/rank-2.json >cut/rank-2.json
"$S/list" c all cut >/dev/null
parts c
is 'a rank that is cut off fails xargs' $? 123
is 'and has no part' "$(find c/parts -name '*.tl' | wc -l)" 3
"$S/merge" c 2>err
is 'merge goes on with the others, with status 3' $? 3
like 'it is named, with the reason' "$(cat c/warnings)" \
	'cut/rank-2.json: byte 9000 .*cut off'
like 'and the rank is missing' "$(cat c/warnings)" '1 of 4 ranks .* missing: 2'
before=$(stamps c)
cp job/rank-2.json cut
parts c
is 'restarted with the whole file, only that is done' \
	"$(stamps c | grep -v rank-2)" "$before"
"$S/merge" c
ok 'and all is well' diff -r whole c/tables

"$S/list" k all job job/rank-9.json >/dev/null
"$S/part" k all 1 2 4 5 2>err
"$S/merge" k 2>err
is 'a rank that was killed and one that is not there' "$?
$(sed -n 's,^merge: all: .*/\(rank.*\),\1,p' err)" '3
rank-2.json: no part (not run, or killed)
rank-9.json: no part:'

# ---- elements of an array, and nodes ----

"$S/list" 'a b' all job >/dev/null
for id in 1 2 3; do
	SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_COUNT=3 "$S/part" 'a b' all
done
is 'an array shorter than the list, and a space' \
	"$(find 'a b/parts' -name '*.tl' | wc -l)" 4
mkdir n0 n1 # the disks of two nodes, with the same names for other ranks
cp job/rank-0.json n0/rank-a.json && cp job/rank-1.json n0/rank-b.json
cp job/rank-2.json n1/rank-a.json && cp job/rank-3.json n1/rank-b.json
SLURMD_NODENAME=n0 "$S/node" n n0 && SLURMD_NODENAME=n1 "$S/node" n n1
"$S/merge" n
ok 'traces on the disks of nodes' diff -r whole n/tables
ok 'no parts, no answer' sh -c '! "$1/merge" nothing' _ "$S"

# ---- hostile paths ----

for script in list part node submit merge; do
	"$S/$script" '' x job >out 2>err
	is "$script: an empty WORK is a usage error" "$? $(cat out)" '2 '
done
"$S/list" ./-w all job >/dev/null && "$S/part" -w all 1 2 3 4 &&
	"$S/merge" -w
ok 'a WORK that begins with a dash' diff -r whole ./-w/tables
cp job/rank-0.json ./-r.json
is 'a trace that begins with a dash' \
	"$("$S/list" d all -r.json) $(sed 's,.*/,,' d/lists/all)" '1 -r.json'
mkdir nl && cp job/rank-0.json "nl/rank
-1.json"
"$S/list" l all nl 2>err
is 'a line break in a path is an error, and there is no list' \
	"$? $(sed 's,.*/,,' err) $(ls -A l/lists)" \
	'1 rank?-1.json: line break in a path '
folder='end
'
mkdir "$folder" && cp job/rank-0.json "$folder"
"$S/list" f all "$folder" 2>err
is 'or at the end of a folder' "$? $(sed 's,.*/,,' err)" \
	'1 end?: line break in a path'
