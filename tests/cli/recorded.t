#!/bin/sh
# SPDX-License-Identifier: MIT
# Timelines and modules of the traces recorded on an H100, against figures
# computed from their JSON in Python; and whole reports.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for p in tl-timeline tl-modules; do
	command -v $p >/dev/null || skip_all "$p is not built"
done
python3 "$ROOT/tests/oracle/odd.py" "$ROOT"/tests/data/h100/*.json.gz
