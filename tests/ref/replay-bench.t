#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-replay --bench: the transposes in rocBLAS's line are those in the name of
# the Tensile kernel that ran: Alik is a transposed A, Bjlk a transposed B.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-replay >/dev/null || skip_all 'tl-replay was not built'

cat >check.py <<'EOF2'
import json
import re
import subprocess
import sys

PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")


def run(*words):
    return subprocess.run(["tl-replay", *words], stdout=subprocess.PIPE,
                          check=True, text=True).stdout


tree = sys.argv[1]
checked = 0
for op in json.loads(run("--top", "0", "--ir", "-", tree))["ops"]:
    layouts = [re.search("Cijk_A(ilk|lik)_B(ljk|jlk)", k["name"])
               for k in op["kernels"]]
    layouts = [found for found in layouts if found]
    if op["op_name"] not in PRODUCTS or not layouts:
        continue
    line = run("--uid", op["uid"], "--bench", "rocblas", tree)
    given = re.search("--transposeA (.) --transposeB (.)", line).groups()
    kernel = ("NT"[layouts[0][1] == "lik"], "NT"[layouts[0][2] == "jlk"])
    assert given == kernel, (op["uid"], given, kernel)
    checked += 1
print(checked)
EOF2

# agrees TRACE NUMBER: of its products
agrees() {
	tl-tree -o t.tl "$TL_DATA/$1" 2>err || : # warnings are no matter
	is "${1%%/*}: products whose kernel agrees" "$(python3 check.py t.tl)" "$2"
}
agrees mi300_bert_small/gaunernst_bert-small-uncased__1016001.json.gz 4
agrees hta_amd_mi250_minitoy/mi250_minitoy_train_ROCm6_2_kineto.json.gz 2
agrees mi300_timesformer/facebook_timesformer-base-finetuned-k400__1016002.json.gz 11
done_testing
