# SPDX-License-Identifier: Apache-2.0
# Completes the verbs, options and files of spsolve in bash. The program itself names its verbs and options.
_spsolve() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
  local verbs verb="" word
  verbs=$("$program" --help 2>/dev/null |
    sed -nE '/^(Subcommands|SUBCOMMANDS):/,/^[[:space:]]*$/s/^  ([a-z]+) .*/\1/p')
  for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    if [[ " ${verbs//$'\n'/ } " == *" $word "* ]]; then
      verb=$word
      break
    fi
  done
  COMPREPLY=()
  case $previous in
    --restart) mapfile -t COMPREPLY < <(compgen -W latest -- "$current"; compgen -f -- "$current") ;;
    --output) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    *)
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" ${verb:+"$verb"} --help 2>/dev/null |
          sed -nE 's/^ +(-[a-zA-Z], *)?(--[a-z-]+).*/\2/p')" -- "$current")
      else
        [[ -z $verb ]] && mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current")
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
      fi
      ;;
  esac
}
complete -F _spsolve spsolve
