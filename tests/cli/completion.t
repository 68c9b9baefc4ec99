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
offers 'annotation ' tl-report --by ann
offers 'op opened_by ' tl-idle --by op
offers 'class,module ' tl-idle --by class,mod
offers 'module ' tl-critical --by mo
# what is in the file
cp "$SAMPLE" sample.json.gz
offers 'memcpy memory memset meta ' tl-filter sample.json.gz --kind me
offers 'kernel,memcpy kernel,memory kernel,memset kernel,meta ' tl-filter sample.json.gz --kind kernel,me
offers ' ' tl-filter sample.json.gz --kind sy
offers 'sync ' tl-filter none.json --kind sy
if command -v tl-ops >/dev/null; then
	offers 'categories ' tl-ops --columns cat
	offers 'count,categories ' tl-ops -c count,cat
	offers 'op_category ' tl-ops --sort op_c
	offers '-op_category ' tl-ops --table ops_summary_by_category --sort -op_c
	offers ' ' tl-ops --table ops_summary_by_category --sort op_n
	offers 'ProfilerStep#1 ' tl-ops sample.json.gz --annotation ProfilerStep#1
	offers 'all_reduce ' tl-ops sample.json.gz --annotation nccl : all_r
	trace_names() { # annotations of such names
		printf '{"traceEvents":['
		for name in "$@"; do
			printf '{"ph":"X","cat":"user_annotation","name":"%s","pid":1,"tid":1,"ts":1,"dur":1},' "$name"
		done
		printf '{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":3,"dur":1}]}\n'
	}
	# shellcheck disable=SC2016 # no command
	trace_names 'a b' 'a$(touch hit)' 'a:b:c' >odd.json
	offers 'a:b:c a\ b a\$\(touch\ hit\) ' tl-ops odd.json --annotation a
	offers 'c ' tl-ops odd.json --annotation a : b :
	ok 'no name of a trace is run' test ! -e hit
	printf '#!/bin/sh\necho ok\nexec sleep 60\n' >slow-cat
	chmod +x slow-cat
	mkdir slow
	mv slow-cat slow/tl-cat
	before=$(date +%s)
	is 'a large trace: what came in time' \
		"$(PATH=$TMP/slow:$PATH bash offer.sh tl-ops sample.json.gz --annotation o)" ok
	ok 'and it took seconds' test $(($(date +%s) - before)) -lt 30
fi
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
