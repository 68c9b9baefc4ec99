#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces of each format, wrong in one member of one kind of event: every figure
# is right for the file's contents, or a warning says what could not be counted.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for p in tl-ops tl-kernels tl-timeline tl-launch; do
	command -v $p >/dev/null || skip_all "$p is not built"
done
sample='--sample 41'
! slow || sample='--sample 4'
! everything || sample='--sample 2'
! sanitized || sample='--sample 41'
# shellcheck source=tests/cli/semantic.sh
. "$ROOT/tests/cli/semantic.sh"
mutants chrome semantic.py
mutants rocprof semantic_rocprof.py

[ -z "$sample" ] || sample='--sample 67'
! sanitized || sample='--sample 199'
mutants perfetto semantic_perfetto.py
done_testing
