#!/bin/sh
# SPDX-License-Identifier: MIT
# Everything of each real trace is in its stream: every event, argument,
# number and metadata member, equal as JSON values.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all "no reference traces in $TL_DATA"

cat >all.py <<'END'
import concurrent.futures, glob, gzip, os, re, subprocess, sys
data, oracle = os.environ['TL_DATA'], os.environ['ROOT'] + '/tests/oracle/events.py'
sys.path.append(os.path.dirname(oracle))
from worked import is_left

def is_chrome(path):
    """An object with traceEvents or a list of events; no stream, no rocprof."""
    with open(path, 'rb') as f:
        magic = f.read(2)
    try:
        with (gzip.open if magic == b'\x1f\x8b' else open)(path, 'rb') as f:
            head = f.read(1 << 16)
            while b'"traceEvents"' not in head and re.match(rb'\s*\{', head):
                more = f.read(1 << 20)
                if not more or b'rocprofiler-sdk-tool' in head:
                    return False
                head = head[-20:] + more if not head.startswith(b'{') else b'{' + more
            return re.match(rb'\s*(\{|\[\s*\{)', head) is not None
    except OSError:
        return False

def run(path):
    nd = '%s.%d.nd' % (os.path.basename(path), os.getpid() + abs(hash(path)))
    p = subprocess.run(
        ['bash', '-c', 'set -o pipefail; tl-decode "$1" | tl-cat >"$2" && '
         'python3 "$3" "$1" "$2"; s=$?; rm -f "$2"; exit $s', '-', path, nd, oracle],
        capture_output=True, text=True)
    return path, p.returncode, p.stdout + p.stderr

paths = [p for p in glob.glob(data + '/*/**/*.json*', recursive=True)
         if '/reference/' not in p and '/not_a_trace/' not in p
         and not p.endswith(('.md', '.csv')) and not is_left(p) and is_chrome(p)]
paths.sort(key=os.path.getsize, reverse=True)
print('1..%d' % len(paths))
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for n, (path, status, text) in enumerate(pool.map(run, paths), 1):
        last = text.strip().rsplit('\n', 1)[-1]
        print('%sok %d - %s: %s' % ('not ' if status else '', n,
                                    path[len(data) + 1:], last))
        if status:
            print('\n'.join('# ' + line[:300] for line in text.splitlines()[:20]))
END
planned=0 # all.py plans and reports
python3 all.py
