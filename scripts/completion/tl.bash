# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Completion for all programs of tl. Each prints its options itself:
# `tl-x --complete` prints one a line, --long<TAB>-s<TAB>ARGUMENT<TAB>help.

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

	# --option=VALUE comes in three words.
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
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
			_tl_argument "${long#--} $arg" "$cur"
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

# Values for the argument of an OPTION: tables of the program, choices
# (`csv|tsv`), folders, files.
_tl_argument() {
	case $1 in
	'table '*) _tl_list "$2" "$("$prog" --list-tables 2>/dev/null </dev/null |
		cut -f 1)" ;;
	'arch '*) mapfile -t COMPREPLY < <(compgen -f -- "$2"
		compgen -W "auto $(tl-roofline --list-archs 2>/dev/null </dev/null |
			cut -f 1 | sed 1d)" -- "$2") ;;
	'step '*) _tl_list "$2" first last slowest ;;
	'kind '*) _tl_list "$2" op runtime driver python annotation kernel memcpy \
		memset gpu_annotation sync gpu_event overhead span flow meta \
		instant memory counter async object sample dump mark slice end other ;;
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
