# SPDX-License-Identifier: MIT
# Folders and files that an ordinary user may not write: an error that names
# them, unchanged contents, and no new files.
. tests/cli/lib.sh

user='' # in front of a command: who runs it
if [ "$(id -u)" -eq 0 ]; then
	command -v setpriv >/dev/null || skip_all 'root writes everywhere, and setpriv is missing'
	user='setpriv --reuid=65534 --regid=65534 --clear-groups --'
	chmod 755 .
fi
# shellcheck disable=SC2086 # words
[ "$($user tl-cat --version 2>/dev/null)" = "$(tl-cat --version)" ] ||
	skip_all 'an ordinary user cannot reach the programs'

gzip -dc "$SAMPLE" >t.json
tl-tree t.json -o t.tl
tl-timeline --format ndjson t.tl >t.ndjson
mkdir shut open
for f in old.tl old.tsv old.xlsx old.html old.sqlite old.json.gz old.md; do
	echo 'as it was' >shut/$f
	cp shut/$f open/$f
done
chmod 777 open
chmod 444 shut/* open/*
chmod 555 shut
ls -lR shut open >before

# shut PROGRAM ENDING [ARGUMENT...]: a new file in the shut folder, and an old
# file that is read-only in an open one
shut() {
	seen "$1"
	command -v "$1" >/dev/null || {
		skip "$1" 'not built'
		return
	}
	program=$1 ending=$2
	shift 2
	for to in shut/new open/old; do # tl-report's are written by others
		refuses 1 "^tl-[a-z]*: .*$to.$ending: Permission denied" \
			"$user $program $* -o $to.$ending"
	done
}
# folder PROGRAM [ARGUMENT...]: a folder in the shut one
folder() {
	seen "$1"
	command -v "$1" >/dev/null || {
		skip "$1" 'not built'
		return
	}
	refuses 1 "^$1: .*shut/new.*: Permission denied" "$user $* -d shut/new"
	refuses 1 "^$1: .*shut.*: Permission denied" "$user $* -d shut"
}

shut tl-decode tl t.json
shut tl-cat tl t.tl
shut tl-link tl t.tl
shut tl-tree tl t.json
shut tl-filter tl t.tl
shut tl-merge tl t.tl t.tl
shut tl-graft tl --capture "$ROOT/tests/data/capture.json.gz" "$ROOT/tests/data/replay.json.gz"
shut tl-export json.gz t.tl
for sink in tl-timeline tl-idle tl-launch tl-steps tl-critical tl-kernels tl-modules tl-collective tl-health; do
	shut $sink tsv t.tl
done
shut tl-ops tsv t.tl
shut tl-roofline tsv --arch H100-SXM t.tl
shut tl-replay tsv t.tl
shut tl-fold tsv t.tl
shut tl-diff tsv t.tl t.json
shut tl-match tsv --approx "$ROOT/tests/data/h100/serving_steps.json.gz" \
	"$ROOT/tests/data/h100/serving_steps.json.gz"
shut tl-advise tsv t.tl
shut tl-xlsx xlsx t.ndjson
shut tl-html html t.ndjson
shut tl-sql sqlite t.ndjson
while read -r needs ending; do
	if command -v "$needs" >/dev/null; then
		shut tl-report "$ending" t.tl
	else
		skip "tl-report -o x.$ending" "$needs is not built"
	fi
done <<'END'
tl-xlsx xlsx
tl-html html
tl-sql sqlite
tl-report md
END
folder tl-decode t.json
folder tl-split --by step t.tl
folder tl-timeline t.tl
tl-report t.tl -d report
folder tl-compare --names a,b report report
folder tl-report t.tl

# folders without room for temporary files
for c in 'tl-tree --mem 4M t.json' 'tl-report t.tl'; do
	refuses 1 'shut.*TMPDIR.*Permission denied|shut: Permission denied' \
		"TMPDIR=$TMP/shut $user $c"
done

ls -lR shut open >after
same 'nothing has changed' after before
is 'what stood there is as it was' "$(cat shut/* open/* | sort -u)" 'as it was'
all_seen none
done_testing
