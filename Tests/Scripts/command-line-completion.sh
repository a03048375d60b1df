#!/usr/bin/env bash
# The completions that are installed: what bash offers after `vauban ge<TAB>`, that zsh and fish can read theirs.
set -u
. Tests/Scripts/lib/command-line.sh
for shell in bash zsh fish; do vauban --generate-completion-script $shell >"$TMPDIR/completion.$shell" || fail "there is no completion for $shell"; done
# offers WORD...: what bash would offer for the last of these words.
offers() {
    bash --norc --noprofile -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; COMP_KEY=9
        function=$(complete -p vauban | sed -n "s/.* -F \([^ ]*\).*/\1/p"); "$function" vauban "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf "%s\n" "${COMPREPLY[@]}"' bash "$TMPDIR/completion.bash" "$@" 2>"$TMPDIR/err" | sed 's/ *$//'
}
[ "$(offers vauban ge)" = get ] || { offers vauban ge; cat "$TMPDIR/err"; fail 'bash does not complete vauban ge'; }
[ "$(offers vauban ren)" = rename ] || fail 'bash does not complete vauban ren'
[ "$(offers vauban edit x --require '' | sort | paste -sd' ')" = 'nothing presence' ] || fail 'bash does not complete what can be required'
[ "$(offers vauban eph)" = ephemeral ] || fail 'bash does not complete vauban eph'
[ "$(offers vauban passcode rec)" = recovery-key ] || fail 'bash does not complete a verb of a verb'
[ "$(offers vauban get --he | sort | paste -sd' ')" = '--help --hex' ] || { offers vauban get --he; fail 'bash does not complete an option'; }
[ "$(offers vauban set x --when '' | sort | paste -sd' ')" = 'after-first-unlock unlocked' ] || { offers vauban set x --when ''; fail 'bash does not complete the value of an option'; }
grep -q '^#compdef vauban' "$TMPDIR/completion.zsh" || fail 'zsh would not take its completion for one'
grep -q 'complete -c' "$TMPDIR/completion.fish" || fail 'fish would not take its completion for one'
if command -v zsh >/dev/null; then zsh -n "$TMPDIR/completion.zsh" || fail 'zsh cannot read its completion'; fi
if command -v fish >/dev/null; then fish -n "$TMPDIR/completion.fish" || fail 'fish cannot read its completion'; fi
echo 'bash completes verbs, options and values'
