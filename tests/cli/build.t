# SPDX-License-Identifier: MIT
# If libraries are missing, the build says what it left out. (CI builds so, and
# tests the rest.)
. tests/cli/lib.sh

# build VARIABLE=VALUE...: what would be made, in a folder of its own
build() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$ROOT" \
		B="$TMP/build" "$@" 2>&1
}

command -v make >/dev/null || skip_all 'no make'
for pair in LUA:lua5.4 XLSX:xlsxwriter MINIZIP:minizip EXPAT:expat SQLITE:sqlite3; do
	pkg-config --exists "${pair#*:}" || skip_all "no ${pair#*:} here at all"
done
is 'nothing is left out' "$(build -n all | grep 'left out')" ''
is 'ISA-L is only faster' "$(build -n ISAL_LIBS= all | grep 'left out')" ''
build -n ISAL_LIBS= all >plan
is 'and not asked for' "$(grep -c 'HAVE_ISAL\|-lisal' plan)" 0
like 'without Lua no op models' "$(build -n LUA_LIBS= all)" \
	'left out: model \(no LUA\);.* tl-ops;.* try make deps'
build -n LUA_LIBS= all >plan
is 'and nothing that wants them' "$(grep -c 'bin/tl-ops\|common/model' plan)" 0
like 'no workbooks' "$(build -n XLSX_LIBS= all)" \
	'left out: tl-xlsx \(no XLSX\); try make deps'
is 'without libcsv CSV is not read' "$(build -n CSV_LIBS= all |
	grep 'left out')" \
	"echo 'left out: tl-compare (no CSV); try make deps'"
build -n CSV_LIBS= all >plan
is 'and not asked for' "$(grep -c -e '-lcsv' plan)" 0
like 'no reading of workbooks' "$(build -n MINIZIP_LIBS= all)" \
	'left out: tl-compare \(no MINIZIP\);.* try make deps'
like 'nor without expat' "$(build -n EXPAT_LIBS= all)" \
	'left out: tl-compare \(no EXPAT\); try make deps'
like 'no databases' "$(build -n SQLITE_LIBS= all)" \
	'left out: tl-sql \(no SQLITE\); tl-decode/sqlite \(no SQLITE\); try make deps'
build -n SQLITE_LIBS= all >plan
is 'and not asked for' "$(grep -c 'HAVE_SQLITE\|-lsqlite3\|sqlite/db.o' plan)" 0
build PKG_CONFIG=false all >said
is 'zlib and zstd are needed: exit status' "$?" 2
like 'and it says so' "$(cat said)" 'missing libraries: ZLIB ZSTD; try make deps'
done_testing
