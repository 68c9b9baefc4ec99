#!/bin/sh
# SPDX-License-Identifier: MIT
# tl: the list of programs, running one by its question, its page; and no
# program waits for a trace to be typed.
. tests/cli/lib.sh

page_examples tl.1
tl >list
is 'tl: exit status' $? 0
for program in "$B"/bin/tl-*; do
	program=$(basename "$program")
	grep -q "^  ${program#tl-}  " list || echo "$program"
done >unlisted
is 'it lists all programs that are built' "$(cat unlisted)" ''
sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' list | while read -r name; do
	[ -x "$B/bin/tl-$name" ] || echo "$name"
done >missing
is 'and no other' "$(cat missing)" ''
is 'on lines of 80 columns' "$(awk 'length > 80' list)" ''
is 'each question has an answer' \
	"$(awk '/\?$/ { if (open) print; open = $0; next } NF { open = "" }' list)" ''
tl help >list2
same 'tl help: the same list' list list2

cp "$SAMPLE" t.json.gz
tl timeline --table gpu_timeline t.json.gz >a
tl-timeline --table gpu_timeline t.json.gz >b
same 'tl timeline is tl-timeline' a b
tl tl-timeline --table gpu_timeline t.json.gz >a
same 'so is tl tl-timeline' a b
is 'options behind the command are the command'"'"'s' \
	"$(tl timeline --help | head -n 1 | cut -c 1-18)" 'usage: tl-timeline'
is 'its exit status is that of the program' \
	"$(tl timeline nosuch.json >out 2>err; echo $? "$(cut -d : -f 1 err)")" '1 tl-timeline'
is '-h is --help' "$(tl -h)" "$(tl --help)"
is 'in all programs' "$(for program in "$B"/bin/tl-*; do
	[ "$($program -h 2>&1 </dev/null)" = "$($program --help 2>&1 </dev/null)" ] ||
		echo "$program"
done)" ''

said() { # said ERE COMMAND: a usage error of tl itself
	$2 >out 2>err
	is "$2: exit status" $? 2
	like "$2" "$(head -n 1 err)" "$1"
}
said "^tl: unknown command 'timelime': is it timeline\\?$" 'tl timelime'
said "^tl: unknown command 'hlep': is it help\\?$" 'tl hlep'
said "^tl: unknown command 'zzz'$" 'tl zzz'
said "^tl: unknown command 'roofilne': is it roofline\\?$" 'tl help roofilne'
said "for a trace: tl report t.json.gz$" 'tl t.json.gz'
said "^tl: unknown option '--hepl': is it --help\\?$" 'tl --hepl'

# a man that prints which page it should show
mkdir bin
printf '#!/bin/sh\necho "$@"\n' >bin/man
chmod +x bin/man
like 'tl help: the page of this tree' "$(PATH=$TMP/bin:$PATH tl help timeline)" \
	'^-l .*/man/tl-timeline\.1$'
like 'also of what is no program' "$(PATH=$TMP/bin:$PATH tl help record)" \
	'^-l .*/man/tl-record\.7$'
like 'of the suite its overview' "$(PATH=$TMP/bin:$PATH tl help tl)" '/man/tl\.7$'
printf '#!/bin/sh\nexit 3\n' >bin/man
is 'where man fails, what the program says' \
	"$(PATH=$TMP/bin:$PATH tl help timeline)" "$(tl-timeline --help)"

# an installed copy, without pages beside it
mkdir copy
cp "$B/bin/tl" "$B/bin/tl-timeline" copy
is 'without a page: --help' "$(copy/tl help timeline | head -n 1 |
	cut -c 1-18)" 'usage: tl-timeline'
like 'only what is there is listed' \
	"$(PATH=/usr/bin:/bin copy/tl | sed -n 's/^  \([a-z]*\) .*/\1/p' | tr '\n' ' ')" \
	'^ *timeline $'

# Nobody types a trace. Programs that need operands say so.
for program in "$B"/bin/tl-*; do
	name=$(basename "$program")
	python3 "$ROOT/tests/cli/on-terminal.py" "$program" >said 2>&1
	echo $? >>said
	case $(tail -n 1 said),$(grep -c "^usage: $name " said) in
	2,1) ;;
	*) echo "$name: $(tr '\n' '|' <said)" ;;
	esac
done >waiting
is 'on a terminal without operands: the usage, exit 2' "$(cat waiting)" ''
python3 "$ROOT/tests/cli/on-terminal.py" tl-timeline - >said
like 'nor for - is a terminal read' "$(cat said)" \
	'^tl-timeline: no input: name a file, or pipe one in$'

# ---- a user types an option of another program ----
refuses 2 ": pipe it in: tl-graft --capture DIR TRACE | tl-timeline$" 'tl-timeline --capture x'

# ---- colour and blocks, where the terminal has them ----
if command -v tl-report >/dev/null; then
	terminal() { # terminal VARIABLE=VALUE...: the bar of the screen
		env -u NO_COLOR "$@" python3 "$ROOT/tests/cli/on-terminal.py" -w 80 tl-report t.json.gz |
			grep -A 1 '^GPU, ' | tail -n 1
	}
	esc=$(printf '\033')
	full=$(printf '\342\226\210')
	like 'in colour, of blocks' "$(terminal TERM=xterm LC_ALL=C.UTF-8)" "^\\[$esc\\[34m($full)+$esc\\[0m$esc\\[33m"
	is 'without UTF-8 no blocks' "$(terminal TERM=xterm LC_ALL=C | sed "s/$esc\[[0-9]*m//g")" \
		"$(tl-report t.json.gz | grep -A 1 '^GPU, ' | tail -n 1)"
	like 'NO_COLOR: blocks alone' "$(terminal NO_COLOR=1 LANG=en_US.utf8 LC_ALL=)" "^\\[($full)+[^$esc]*\\]$"
	is 'a dumb terminal: neither colour' "$(terminal TERM=dumb LC_ALL=C)" \
		"$(tl-report t.json.gz | grep -A 1 '^GPU, ' | tail -n 1)"
	# an event at no time is skipped, with a warning
	zcat t.json.gz | sed 's/"traceEvents": *\[/&{"ph":"X","cat":"kernel","name":"k","ts":"soon","dur":1,"pid":0,"tid":7},/' >odd.json
	reports 3 skipped 'tl-report odd.json'
	is 'on one terminal a warning is said once, by the screen' "$(
		python3 "$ROOT/tests/cli/on-terminal.py" tl-report odd.json |
			grep -c '^tl-[^h]\|^  - odd.json: ')" 1
	is 'no line is wider than the terminal' "$(env -u NO_COLOR LC_ALL=C.UTF-8 python3 "$ROOT/tests/cli/on-terminal.py" -w 60 tl-report t.json.gz |
		sed "s/$esc\[[0-9]*m//g" | python3 -c 'import sys
print(sum(len(l.rstrip("\n")) > 60 for l in sys.stdin))')" 0
fi
if command -v tl-ops >/dev/null; then
	python3 "$ROOT/tests/cli/on-terminal.py" -w 50 tl-ops --name nosuch-op t.json.gz >said
	is 'messages break between words' "$(awk 'NR > 1 && !/^  / || length > 50' said)" ''
	is 'of which none is lost' "$(tr -s ' \n' '  ' <said)" \
		"$(tl-ops --name nosuch-op t.json.gz 2>&1 | tr -s ' \n' '  ')"
fi
done_testing
