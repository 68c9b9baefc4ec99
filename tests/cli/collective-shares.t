#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-collective --link and --vs against figures worked out from the traces.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
python3 "$ROOT/tests/oracle/collective_link.py"
status=$?
trap - EXIT
cd / && rm -rf "$TMP" "$log"
exit $status
