#!/bin/sh
# SPDX-License-Identifier: MIT
# Completion for bash and zsh offers the options that programs have.
. tests/cli/lib.sh

command -v bash >/dev/null || skip_all 'no bash'
mkdir sheets
touch trace.json.gz report.xlsx
cat >offer.sh <<'END'
. "$ROOT/scripts/completion/tl.bash"
compopt() { :; } # says how a shell shows them
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tl
printf '%s\n' "${COMPREPLY[@]}"
END

# offers WANTED WORD...: what bash offers for the last WORD
offers() {
	wanted=$1
	shift
	is "bash: $*" "$(bash offer.sh "$@" | sort | tr '\n' ' ')" "$wanted"
}
offers '--salvage ' tl-decode --sal
offers 'trace.json.gz ' tl-decode tra
offers 'trace.json.gz ' tl-decode -z tra
offers 'csv ' tl-timeline --format c
offers 'csv ' tl-timeline --format = c
offers 'sheets ' tl-timeline -d s
offers 'report.xlsx ' tl-timeline -o rep
offers 'decode ' tl-filter --phase d
offers 'prefill,mixed ' tl-filter --phase prefill,m
offers 'ndjson ' tl-link --format n
if command -v tl-roofline >/dev/null; then # a build without Lua has none
	offers 'unified_perf_summary ' tl-roofline --table unif
	offers 'H100-NVL H100-PCIe H100-SXM ' tl-roofline --arch H100
	offers 'auto ' tl-roofline --arch aut
fi
offers 'slowest ' tl-report --step sl
offers '3,slowest ' tl-report --step 3,sl
offers 'kernel,memcpy ' tl-filter --kind kernel,memc
offers 'phase ' tl-timeline --by ph
offers 'module ' tl-report --by mod
offers 'timeline ' tl timel
offers 'timeline ' tl help timel
offers '--salvage ' tl decode --sal
offers 'csv ' tl timeline --format c
offers 'csv ' tl timeline --format = c
offers 'trace.json.gz ' tl report tra
offers '--version ' tl --v

if command -v zsh >/dev/null; then
	cat >offer.zsh <<'END'
_call_program() { shift; eval "$*"; }
_arguments() { print -rl -- "$@"; }
_describe() { print -rl -- ${(P)2}; }
words=("$@")
CURRENT=$#
tl() { . $ROOT/scripts/completion/_tl; }
tl
END
	zsh -f offer.zsh tl-decode >out 2>&1
	is 'zsh: options, with what they take' \
		"$(grep -E -- '--(salvage|zstd|dir|kind)|-[dz]\[' out |
			sed 's/\[[^]]*\]/[help]/')" \
		'*--dir=[help]:folder:_files -/
*-d[help]:folder:_files -/
*--zstd[help]
*-z[help]
*--kind=[help]:KIND,...: 
*--salvage[help]'
	zsh -f offer.zsh tl-timeline >out 2>&1
	is 'zsh: choices' "$(grep -e --format out)" \
		'*--format=[output format]:choice:(csv md ndjson table tsv)'
	zsh -f offer.zsh tl timeline --f >out 2>&1
	is 'zsh: of tl COMMAND those of its program' "$(grep -e --format out)" \
		'*--format=[output format]:choice:(csv md ndjson table tsv)'
	zsh -f offer.zsh tl help rep >out 2>&1
	is 'zsh: commands' "$(grep -cx -e help -e report -e timeline out)" 3
	zsh -f offer.zsh tl-timeline --t >out 2>&1
	like 'zsh: tables' "$(grep -e '--table=' out)" ':table:\(gpu_timeline gpu_timeline_by_agent .*\)$'
else
	skip 'zsh: of tl COMMAND those of its program' 'no zsh'
	skip 'zsh: commands' 'no zsh'
	skip 'zsh: tables' 'no zsh'
	skip 'zsh: options, with what they take' 'no zsh'
	skip 'zsh: choices' 'no zsh'
fi
done_testing
