#!/bin/sh
# SPDX-License-Identifier: MIT
# Databases, CSV and protobufs, wrong in one member of one kind of event: see
# semantic.t.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
for p in tl-ops tl-kernels tl-timeline tl-launch; do
	command -v $p >/dev/null || skip_all "$p is not built"
done
sample='--sample 67'
! slow || sample='--sample 4'
! everything || sample='--sample 2'
# which compare figures: what sanitizers see is in the fuzz targets, too
! sanitized || sample='--sample 199'
# shellcheck source=tests/cli/semantic.sh
. "$ROOT/tests/cli/semantic.sh"
mutants xplane semantic_xplane.py
mutants csv semantic_csv.py
printf 'SQLite format 3\000' >none
for schema in rpd rocpd nsys; do
	if tl-decode none 2>&1 | grep -q libsqlite3; then
		skip $schema 'a build without libsqlite3'
	else
		mutants $schema semantic_sqlite.py $schema
	fi
done
done_testing
