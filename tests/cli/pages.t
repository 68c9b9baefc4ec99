#!/bin/sh
# SPDX-License-Identifier: MIT
# Every program and its page: --help, the page's SYNOPSIS and its list of
# options have the same options; --version; a wrong option.
. tests/cli/lib.sh

cat >page.py <<'END_PY'
"""page.py PAGE < `prog --complete`: what page and program do not agree on."""
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
# What tl(7) tells of for all programs: a page may name the group only.
GENERAL = {"--help", "--status-fd", "--version"}

own, short_of = {}, {}
for line in sys.stdin:
    long, short, arg, _ = line.rstrip("\n").split("\t", 3)
    name = long or short
    own[name] = arg
    if short:
        short_of[short] = name


def section(title):
    m = re.search(rf"^\.Sh {title}\n(.*?)(?=^\.Sh )", page, re.S | re.M)
    return m[1] if m else ""


def flags(text):
    """The options that the lines of a page name, in their long form if any."""
    found = set()
    for line in text.splitlines():
        words = line.replace(",", " , ").replace("|", " | ").split()
        is_flag = False
        for word in words:
            if word in (".Fl", "Fl"):
                is_flag = True
            elif word in ("Ar", "Op", "Cm", "Ns", "Ta", "Pq", "Xr", "No", "Po",
                          "Pc", "Oo", "Oc", "Ql", "=", "Li"):
                is_flag = False
            elif is_flag and re.fullmatch(r"-?[A-Za-z0-9][\w-]*", word):
                if word.startswith("-"):
                    found.add("-" + word)
                elif len(word) == 1:
                    found.add("-" + word)
                else:  # .Fl vz
                    found |= {"-" + c for c in word}
    return {short_of.get(f, f) for f in found}


def items():
    """The options that have an item of their own."""
    lines = re.findall(r"^\.It (?:Fl|.* Fl) .*$", page, re.M)
    # in tables stand the reference's options
    return flags("\n".join(line for line in lines if " Ta " not in line))


bad = []
for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "MEMORY", "EXIT STATUS",
              "EXAMPLES", "SEE ALSO"):
    if not section(title) and f".Sh {title}\n" not in page:
        bad.append(f"no section {title}")
for name in sorted(flags(section("SYNOPSIS")) - set(own) - GENERAL):
    bad.append(f"SYNOPSIS: {name} is no option")
described = items()
for name in sorted(described - set(own) - GENERAL):
    bad.append(f"{name} is described and is no option")
told = flags(page)
for name in sorted(set(own) - GENERAL - told):
    bad.append(f"{name} is not in the page")
# A SYNOPSIS names all options, or stands for them with a word.
if not re.search(r"^\.Op Ar (options?|selection)\b", page, re.M):
    for name in sorted(set(own) - GENERAL - flags(section("SYNOPSIS"))):
        bad.append(f"SYNOPSIS lacks {name}")
print("\n".join(bad))
sys.exit(bool(bad))
END_PY

tab=$(printf '\t')
for prog in "$B"/bin/tl "$B"/bin/tl-*; do
	prog=$(basename "$prog")
	page=$ROOT/man/$prog.1
	"$prog" --complete 2>err </dev/null | grep -v "^$tab$tab" >table # no columns
	ok "$prog: page and program have the same options" \
		sh -c "python3 page.py '$page' <table"
	"$prog" --help >help 2>err </dev/null
	is "$prog --help: exit status, nothing on stderr" "$? $(cat err)" '0 '
	# every option of the table, and no other
	grep -E '^ +-' help | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u >in-help
	cut -f 1 table | grep . | sort -u >in-table
	same "$prog --help: the options of --complete" in-table in-help
	like "$prog --help: usage" "$(head -n 1 help)" "^usage: $prog( |\$)"
	like "$prog --help: names the page" "$(cat help)" "$prog\\(1\\)"
	is "$prog --help: at most 100 columns but for the usage" \
		"$(sed 1d help | awk 'length > 100')" ''
	is "$prog --version" "$("$prog" --version 2>&1 </dev/null | head -n 1 |
		grep -cE "^$prog [^ ]+")" 1
	refuses 2 'no-such-option' "$prog --no-such-option"
	refuses 2 '.' "$prog -%"
	case $(head -c 2 "$B/bin/$prog") in
	'#!') # the shell itself says it, in its words
		"$prog" --help >/dev/full 2>err </dev/null
		is "$prog --help >/dev/full" $? 1 ;;
	*) refuses 1 'No space left' "$prog --help >/dev/full" ;;
	esac
done

for page in "$ROOT"/man/*; do
	name=$(basename "$page")
	[ "$name" = tl.7 ] && continue
	grep -q "^\.Xr ${name%.*} ${name##*.}" "$ROOT/man/tl.7" ||
		echo "tl(7): $name"
	case $name in *.1) grep -q "^| \[${name%.*}\](man/$name)" "$ROOT/README.md" ||
		echo "README: $name" ;;
	esac
done >unnamed
is 'tl(7) and the README name all programs' "$(cat unnamed)" ''

# .Fl takes the following words for options unless they are marked as none
if command -v mandoc >/dev/null && command -v col >/dev/null; then
	for page in "$ROOT"/man/*; do
		mandoc -T ascii "$page" | col -b |
			grep -E ' -(a|an|and|by|for|in|is|its|of|on|or|the|to|with)( |$)'
	done >marked
	is 'no word of a sentence is marked as an option' "$(cat marked)" ''
fi
done_testing
