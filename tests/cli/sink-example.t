#!/bin/sh
# SPDX-License-Identifier: MIT
# The program at the top of common/sink/sink.h, from which new sinks are copied,
# is complete.
. tests/cli/lib.sh
cc=${CC:-cc}
command -v "${cc%% *}" >/dev/null || skip_all 'no compiler'
sinks=$(cd "$ROOT/cmd" && grep -l 'return sink_main(' ./*.c ./*/*.c | sed 's,^\./,,; s/[./].*//')
plan 3

{
	echo '#include "sink/sink.h"'
	sed -n '/^ \*\tstruct piece/,/^ \* A column is/p' "$ROOT/common/sink/sink.h" |
		sed -e '$d' -e 's/^ \*	*//' -e 's/^ \*//' -e 's/(equal keys.*)//'
} >tl-x.c
like 'it has a main()' "$(cat tl-x.c)" '^main\(int argc'
# shellcheck disable=SC2086 # a compiler may be a command with words
ok 'it compiles' $cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror \
	-I"$ROOT/common" -I"$ROOT" -fsyntax-only tl-x.c

lists() {
	for program in $sinks; do
		case $($program --help) in
		*--list-tables*) $program --list-tables >/dev/null || return 1 ;;
		esac
	done
}
ok 'lists of columns have known ids' lists
