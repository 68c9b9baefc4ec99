#!/bin/sh
# SPDX-License-Identifier: MIT
# Hostile names in outputs of lines: always UTF-8, without control characters
# for terminals, and the names can be restored.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
command -v tl-kernels >/dev/null || skip_all 'tl-kernels is not built'

cat >in.json <<'EOT'
[{"ph":"X","cat":"cpu_op","name":"half \ud800 \u009b31m \u202eop","ts":1,"dur":90,"pid":1,"tid":1,
  "args":{"k":"\udfff \u0085 \ufeff"}},
 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":2,"dur":5,"pid":1,"tid":1,
  "args":{"correlation":1}},
 {"ph":"X","cat":"kernel","name":"\u0000\u001b[2J \u2066\udc00, \"q\" \\ \t é 字\r\n","ts":9,"dur":7,
  "pid":0,"tid":7,"args":{"device":0,"stream":7,"correlation":1}}]
EOT
tl-tree -o t.tl in.json

# safe TEXT KEPT FILE: no forbidden character except lines, tabs and KEPT
safe() {
	is "$1" "$(python3 - "$2" "$3" <<'EOT'
import sys, unicodedata
kept, path = sys.argv[1:]
text = open(path, "rb").read().decode()
print(*sorted({"U+%04X" % ord(c) for c in text if c not in "\t\n" + kept
    and unicodedata.category(c) in ("Cc", "Cf", "Cs")}))
EOT
)" ''
}
for format in tsv csv; do
	keep=
	[ $format = tsv ] || keep=$(printf '\r')
	for c in 'tl-kernels -c +details' 'tl-ops --by name' 'tl-launch -c +details'; do
		command -v "${c%% *}" >/dev/null || continue # a library is missing
		$c --format $format t.tl >out
		safe "$format of $c" "$keep" out
	done
done
tl-cat --tsv -F id,name,args,args.k,op t.tl >out
safe 'tl-cat --tsv' '' out
tl-cat t.tl >out
safe 'tl-cat' '' out
tl-tree --print t.tl >out
safe 'tl-tree --print' '' out
mark=$(printf 'no\342\200\256such')
tl-cat "$mark" 2>out
safe 'a message' '' out
tl-fold t.tl >out
safe 'tl-fold' '' out
tl-fold --short t.tl >out
safe 'tl-fold --short' '' out

# escapes restore the name, byte by byte
cat >back.py <<'EOT'
import json, re, sys
plain = {b"t": b"\t", b"n": b"\n", b"\\": b"\\"}
got = re.sub(rb"\\(?:x([0-9a-f]{2})|(.))", lambda m: bytes.fromhex(m[1].decode()) if m[1]
    else plain[m[2]], sys.stdin.buffer.read().split(b"\n")[1])
print(got == json.load(open("in.json"))[2]["name"].encode("utf-8", "surrogatepass"))
EOT
is 'the name comes back' "$(tl-kernels -c name t.tl | python3 back.py)" True
done_testing
