#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Filter then analyse is analyse with the same selection:
#
#	selections.sh --list		the selections to try
#	selections.sh --programs	the programs, with options
#	selections.sh TREE OPTIONS	all programs with one of them
#	selections.sh --apart		tl-timeline's rows, without idle time and
#					total: it knows windows that are apart,
#					of which a filter keeps nothing
#
# Of selected steps tl-timeline shows the whole time and what ran in it, whoever
# launched it; a filter keeps what they launched. With --from 0ns, which excludes
# nothing, it shows that, too.
#
# The third prints for each program "ok|PROGRAM|OPTIONS" if both answers are the
# same, nothing if both have none, and otherwise the difference. It leaves files
# in the current folder.

selections() {
	cat <<'END'
--kind kernel
--kind memcpy,memset
--kind op,python
--name '*gemm*'
--name 'aten::*'
--rank 0
--dev 0-3
--gpu-stream 0-7
--min-dur 10us
--from 1ms --to 500ms
--from 10ms --by-gpu-time
--step first
--step last --by-gpu-time
--annotation '*'
--annotation '*#2' --kind kernel
--phase outside --by-gpu-time
--phase prefill,outside
--phase decode,mixed
END
}

programs() {
	cat <<'END'
tl-timeline
tl-ops --by args
tl-kernels --by op,args,kernel
tl-launch --by op,api
tl-roofline
tl-modules --bwd
tl-fold
tl-fold --clock cpu
tl-collective
tl-cat
tl-cat --tsv -F id,op,step,module,flags,args
tl-export --flows
tl-tree -p --no-prune
tl-merge
tl-html -o /dev/stdout
END
}

apart() {
	awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["type"] !~ /idle|^total_time/ { $at["percent"] = ""; print }'
}

case $1 in
--apart) apart; exit ;;
--list) selections; exit ;;
--programs) programs; exit ;;
esac

tree=$1 o=$2
eval "tl-filter $o -o f.tl $tree" 2>/dev/null
case $? in 0 | 3) ;; *) echo "tl-filter $o fails" ;; esac
programs >programs.list
while read -r p; do
	kept=f.tl again='' after=cat launched=''
	case "$p $o" in
	# a choice of rows, and of lines
	tl-roofline*--name* | tl-cat*--kind* | tl-tree*--kind*) continue ;;
	tl-ops*--name*) # the names of ops, with what they launched
		eval "tl-filter --subtree $o -o s.tl $tree" 2>/dev/null
		kept=s.tl again=$o ;;
	tl-timeline*--step* | tl-timeline*--annotation*) launched='--from 0ns' ;;
	tl-merge*) # its selection is no tree
		after='tl-cat --tsv --skip meta -F id,kind,name,ts,dur,args' ;;
	esac
	case "$p $o" in
	tl-cat\ --tsv*) ;;
	tl-cat*) after='sed 1d' ;; # the provenance
	tl-timeline\ *--annotation* | tl-timeline\ *--phase*) after=apart ;;
	esac
	eval "$p $launched $o $tree" >want.out 2>/dev/null; want=$?
	eval "$p $again $kept" >got.out 2>/dev/null; got=$?
	for f in want got; do $after <$f.out >$f 2>/dev/null; done
	# without an answer it doesn't matter how the program said so
	case $want in 2 | 5) want=1 ;; 3) want=0 ;; esac
	# no collective in a stream is an empty table, none selected exit 5
	case $p in tl-collective*) [ "$want$(wc -l <got)" != 11 ] || continue ;; esac
	case $got in 5) got=1 ;; 3) got=0 ;; esac
	if [ "$want" -ne "$got" ]; then
		echo "$p $o: exit status $want, filtered $got"
	elif [ "$want" -eq 0 ] && ! cmp -s want got; then
		echo "$p $o differs"
	elif [ "$want" -eq 0 ] && [ "$(wc -l <want)" -gt 1 ]; then
		echo "ok|$p|$o"
	fi
done <programs.list
