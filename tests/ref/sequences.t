#!/bin/sh
# SPDX-License-Identifier: MIT
# Sequences of kernels in real traces, found by plain Python in their JSON.
. tests/cli/lib.sh
command -v tl-kernels >/dev/null || skip_all 'tl-kernels is not built'
have_data || skip_all 'no reference traces (TL_DATA)'
# shellcheck disable=SC2046 # names without blanks
python3 "$ROOT/tests/oracle/sequences.py" $(find "$TL_DATA"/h100_* "$TL_DATA"/mi300_* \
	"$TL_DATA"/multirank_cifar* -name '*.json.gz' ! -path '*reference*' | sort)
