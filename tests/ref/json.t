#!/bin/sh
# SPDX-License-Identifier: MIT
# The JSON cases are in order: each has one verdict, a strict reader agrees.
. tests/cli/lib.sh
plan 1
ok 'JSON cases' python3 "$ROOT/tests/golden/json/check"
