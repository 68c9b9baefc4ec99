# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Completion for all programs of tl. Each prints its options itself:
# `tl-x --complete` prints one a line, --long<TAB>-s<TAB>ARGUMENT<TAB>help, then
# one per table, <TAB><TAB>TABLE<TAB>COLUMN,... What a trace holds, its annotations
# and kinds, is read from the file named, for two seconds at most.

_tl() {
	# tl COMMAND ...: what the command's program offers
	if [[ ${COMP_WORDS[0]##*/} == tl && COMP_CWORD -ge 1 ]]; then
		if [[ ${COMP_WORDS[1]} != -* ]] &&
			[[ $COMP_CWORD -eq 1 || ${COMP_WORDS[1]} == help ]]
		then
			mapfile -t COMPREPLY < <(compgen -W "$(_tl_programs |
				sed -n 's/^tl-//p') help" -- "${COMP_WORDS[COMP_CWORD]}")
			return 0
		fi
		if [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]]; then
			COMP_WORDS=("tl-${COMP_WORDS[1]#tl-}" "${COMP_WORDS[@]:2}")
			COMP_CWORD=$((COMP_CWORD - 1))
		fi
	fi
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local prog=${COMP_WORDS[0]} table line rest long short arg words=()

	# A name with colons comes in several words, --option=VALUE in three.
	local at=$COMP_CWORD head=
	while [[ $at -gt 2 && ($cur == : || $prev == :) ]]; do
		if [[ $cur == : ]]; then
			cur=$prev: at=$((at - 1))
		else
			cur=${COMP_WORDS[at - 2]}:$cur at=$((at - 2))
		fi
		prev=${COMP_WORDS[at - 1]}
	done
	[[ $at -eq $COMP_CWORD ]] || head=${cur%:*}:
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[at - 2]}
	fi
	COMPREPLY=()
	table=$("$prog" --complete 2>/dev/null </dev/null) || return 0
	while IFS= read -r line; do
		long=${line%%$'\t'*}
		rest=${line#*$'\t'}
		short=${rest%%$'\t'*}
		rest=${rest#*$'\t'}
		arg=${rest%%$'\t'*}
		# An optional argument, as [LEVEL], is not a separate word.
		if [[ -n $arg && $arg != '['* && -n $prev &&
			($prev == "$long" || $prev == "$short") ]]
		then
			_tl_argument "${long#--} $arg" "$cur" "${rest#*$'\t'}"
			# bash replaces only what is behind the last colon
			[[ -z $head ]] || COMPREPLY=("${COMPREPLY[@]#"$head"}")
			return 0
		fi
		[[ -z $long ]] || words+=("$long")
		[[ -z $short || -n $long ]] || words+=("$short")
	done <<<"$table"
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$cur")
	else
		_tl_argument ' FILE' "$cur"
	fi
}

# Values for the argument of an OPTION with this help: tables and columns of the
# program, choices (`csv|tsv`), what is in the trace, folders, files.
_tl_argument() {
	case $1 in
	'table '*) _tl_list "$2" "$("$prog" --list-tables 2>/dev/null </dev/null |
		cut -f 1)" ;;
	'arch '*) mapfile -t COMPREPLY < <(compgen -f -- "$2"
		compgen -W "auto $(tl-roofline --list-archs 2>/dev/null </dev/null |
			cut -f 1 | sed 1d)" -- "$2") ;;
	'step '*) _tl_list "$2" first last slowest ;;
	'by WHAT'*) _tl_list "$2" "${3//, / }" ;;
	'columns '*) _tl_list "$2" "$(_tl_columns)" ;;
	'sort COLUMN') local sign=
		[[ $2 != -* ]] || sign=-
		mapfile -t COMPREPLY < <(compgen -P "$sign" -W "$(_tl_columns)" \
			-- "${2#-}") ;;
	'annotation '*) _tl_quoted "$2" < <(_tl_in_trace name --kind annotation) ;;
	'kind '*) local kinds
		kinds=$(_tl_in_trace kind)
		_tl_list "$2" "${kinds:-op runtime driver python annotation kernel memcpy \
			memset gpu_annotation sync gpu_event overhead span flow meta \
			instant memory counter async object sample dump mark slice end other}" ;;
	*'|'*) arg=${1#* }
		mapfile -t COMPREPLY < <(compgen -W "${arg//|/ }" -- "$2") ;;
	*' PHASE'*) _tl_list "$2" prefill decode mixed generic outside ;;
	*' DIR'*) compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
	*' FILE'* | *FILE) compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	esac
}

# The next one of WORDS in a comma-separated list.
_tl_list() {
	local before=

	[[ $1 != *,* ]] || before=${1%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "${*:2}" -- "${1##*,}")
}

# Lines of the input that begin with $1, quoted.
_tl_quoted() {
	local name

	while IFS= read -r name; do
		[[ $name != "$1"* ]] || COMPREPLY+=("$(printf %q "$name")")
	done
}

# Columns of the table that the line names, else of all, each once; with those
# that no table lists.
_tl_columns() {
	local line rest name ids=() named=() word

	while IFS= read -r line; do
		[[ $line == $'\t\t'* ]] || continue
		rest=${line#$'\t\t'}
		name=${rest%%$'\t'*}
		ids+=("${rest#*$'\t'}")
		for word in "${COMP_WORDS[@]}"; do
			[[ -z $name || $word != "$name" ]] || named+=("${rest#*$'\t'}")
		done
	done <<<"$table"
	[[ ${#named[@]} -eq 0 ]] || ids=("${named[@]}" "${ids[-1]}")
	printf '%s\n' "${ids[@]}" | tr ',' '\n' | sort -u
}

# FIELD of the events, each once, of the first file on the line.
_tl_in_trace() {
	local i file

	for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do
		file=${COMP_WORDS[i]/#\~\//$HOME/}
		[[ $i -ne $COMP_CWORD && -f $file &&
			! ${COMP_WORDS[i - 1]} =~ ^(-o|--output)$ ]] || continue
		timeout 2 tl-cat --tsv --no-header -F "$@" -- "$file" 2>/dev/null </dev/null |
			sort -u
		return
	done
}

# Installed under the name of each program; sourced, it takes all it finds.
_tl_programs() {
	local name
	compgen -c tl- | sort -u | while IFS= read -r name; do
		[[ $name =~ ^tl-[a-z0-9-]+$ ]] && echo "$name"
	done
	! type -P tl >/dev/null || echo tl
}
mapfile -t _tl_names < <(_tl_programs)
[[ ${#_tl_names[@]} -eq 0 ]] || complete -F _tl "${_tl_names[@]}"
unset _tl_names
