#!/bin/sh
# SPDX-License-Identifier: MIT
# Every program that reads a stream, with a stream cut off at every byte: exit
# status 1, a reason, no table and no file. The same input in every form gives
# the same answer.
. tests/cli/lib.sh

cp "$ROOT/tests/golden/stream/valid/ten-events.tl" ten.tl
cat >cuts.py <<'END_PY'
"""cuts.py FILE STEP COMMAND...: the command on prefixes of the file."""
import concurrent.futures
import os
import subprocess
import sys

data, step = open(sys.argv[1], "rb").read(), int(sys.argv[2])
command = sys.argv[3:]
# filters and printers of events mark their output as complete at its end
STREAMS = ("tl-cat", "tl-link", "tl-tree", "tl-graft", "tl-filter", "tl-merge",
           "tl-export")


def run(n):
    out = f"out{n}"
    args = [a.replace("OUT", out) for a in command]
    p = subprocess.run(args, input=data[:n], capture_output=True)
    err = p.stderr.decode("utf-8", "replace")
    good = p.returncode == 1 and err.startswith("tl-")
    if command[0] not in STREAMS or "--check" in command:
        good = good and p.stdout == b""
    if n > 40:  # before, it is no stream but an unknown format
        good = good and ("cut off" in err or "end" in err)
    good = good and not os.path.isfile(out)
    return good, f"cut at {n} of {len(data)}: {p.returncode} {p.stdout} {err}"


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    bad = [why for good, why in pool.map(run, range(0, len(data), step))
           if not good]
print("\n".join(bad[:5]))
sys.exit(bool(bad))
END_PY

# every COMMAND...: STEP is 1, or more if it starts many programs
STEP=5
! slow || STEP=3
! everything || STEP=2
! sanitized || STEP=17
every() {
	seen "$1"
	command -v "$1" >/dev/null || {
		skip "$*" 'not built'
		return
	}
	ok "cut in steps of $STEP bytes: $*" python3 cuts.py ten.tl "$STEP" "$@"
}

every tl-cat
every tl-cat --tsv -F id,op,args
every tl-cat --check
every tl-cat --binary
every tl-link
every tl-graft
every tl-tree
every tl-tree --print
every tl-timeline
every tl-timeline -o OUT
every tl-idle
every tl-health
every tl-launch
every tl-steps
every tl-critical
every tl-ops
every tl-kernels
every tl-fold
every tl-modules
every tl-collective
every tl-roofline --arch H100-SXM
every tl-replay
every tl-filter --kind kernel
every tl-merge
every tl-export
every tl-export -o OUT
every tl-export --to perfetto
STEP=7
every tl-diff - "$TMP/ten.tl"
every tl-match - "$TMP/ten.tl"
every tl-html -o OUT -
every tl-sql --events -o OUT
every tl-split --by step -d OUT
every tl-split --by iteration -d OUT
STEP=101
every tl-report
every tl-advise

# ---- every form of input ----

gzip -c ten.tl >ten.gz
zstd -q ten.tl -o ten.zst
tl-cat ten.tl >ten.ndjson
tl-export --to chrome ten.tl -o raw.json 2>err
tl-tree raw.json -o raw.tl 2>err
gzip -c raw.json >raw.json.gz
zstd -q raw.json -o raw.json.zst

# forms COMMAND: outputs may differ only in the name of the input
forms() {
	command -v "${1%% *}" >/dev/null || {
		skip "$1" 'not built'
		return
	}
	sh -c "$1 ten.tl" >want 2>err
	for f in ten.gz ten.zst ten.ndjson '- <ten.tl' '- <ten.zst' \
		'<ten.ndjson'; do
		sh -c "$1 $f" >got 2>err || echo "exit status $?" >>got
		cmp -s want got || echo "$f"
	done >differ
	sh -c "$1 raw.tl" >want 2>err
	for f in raw.json raw.json.gz raw.json.zst '<raw.json'; do
		sh -c "$1 $f" >got 2>err || echo "exit status $?" >>got
		cmp -s want got || echo "$f"
	done >>differ
	is "the same from every form of input: $1" "$(cat differ)" ''
}

for c in 'tl-cat --tsv -F id,name,ts,dur,op' 'tl-tree --print' tl-timeline \
	tl-ops tl-kernels tl-fold 'tl-roofline --arch H100-SXM'; do
	forms "$c"
done

# ---- no stream, no trace; a full disk; a reader that leaves ----

: >empty
echo 'this is no trace' >text
for c in tl-cat tl-link tl-tree tl-timeline tl-ops tl-kernels tl-fold \
	tl-modules tl-roofline tl-filter tl-merge tl-export tl-collective; do
	command -v "$c" >/dev/null || continue
	refuses 1 'empty' "$c empty"
	refuses 1 'not a trace' "$c text"
	refuses 1 'No such file' "$c missing.tl"
	refuses 1 'irectory' "$c - <$TMP"
	case $c in # no collective, no module there
	tl-collective | tl-modules) continue ;;
	esac
	refuses 1 'No space left' "$c ten.tl >/dev/full"
	quiet "$c: a reader may leave" "$c ten.tl 2>/dev/null | true"
done

# these read tables; tl-decode reads traces
all_seen tl-compare tl-decode tl-xlsx
done_testing
