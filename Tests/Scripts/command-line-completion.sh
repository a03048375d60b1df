#!/usr/bin/env bash
# The installed completions in real shells: what bash, zsh and fish offer for commands, options, values, items and files. Completing item
# names does not unlock the keychain.
set -u
. Tests/Scripts/lib/command-line.sh
for shell in bash zsh fish; do vauban --generate-completion-script $shell >"$TMPDIR/completion.$shell" || fail "there is no completion for $shell"; done
export PATH="$VAUBAN_BUILD:$PATH"
set_passcode
for name in github/anna github/bert 'mail box/anna' 'wifi/Zoë'; do printf x | vauban add -s "${name%/*}" -a "${name#*/}" 2>/dev/null || fail 'add failed'; done
printf x | vauban add --server example.com --account anna || fail 'add failed'
# Names that a shell could run as a command: they are not offered, and nothing is run.
for name in 'git$(touch "$HOME/ran")/x' 'git`touch $HOME/ran`/x' 'git;touch $HOME/ran/x' "git'x/y" 'git\x/y'; do
    printf x | vauban add -s "${name%/*}" -a "${name##*/}" || fail 'add failed'
done

# offers WORD...: prints what bash offers for the last of these words.
offers() {
    bash --norc --noprofile -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; COMP_KEY=9
        function=$(complete -p vauban | sed -n "s/.* -F \([^ ]*\).*/\1/p"); "$function" vauban "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf "%s\n" "${COMPREPLY[@]}"' bash "$TMPDIR/completion.bash" "$@" 2>"$TMPDIR/err" | sed 's/ *$//'
}
# The line that fish and zsh make after TAB on a terminal; Ctrl-X there writes it to a file.
printf 'function fish_prompt; echo "ready> "; end\nsource "%s"\nbind \\cx "commandline >%s; exit"\n' "$TMPDIR/completion.fish" "$TMPDIR/line" >"$TMPDIR/settings.fish"
printf 'autoload -Uz compinit; compinit -u -D; . "%s"; compdef _vauban vauban; PS1="ready> "\nshown() { print -r -- "$BUFFER" >"%s"; exit }\nzle -N shown; bindkey "^X" shown\n' "$TMPDIR/completion.zsh" "$TMPDIR/line" >"$TMPDIR/.zshrc"
typed() {
    rm -f "$TMPDIR/line"
    printf 'expect ready>\ntype %s\nkey tab\nkey ctrl-x\n' "$1" | play "${@:2}" >"$TMPDIR/shell" 2>&1
    cat "$TMPDIR/line"
}
fish_line() { typed "$1" "$(command -v fish)" --no-config --init-command "source $TMPDIR/settings.fish"; }
zsh_line() { ZDOTDIR=$TMPDIR typed "$1" "$(command -v zsh)" -i; }
# completes SHELL TEXT LINE: the shell completes this text to this line.
completes() { [ "$("$1_line" "$2")" = "$3" ] || { cat "$TMPDIR/shell" "$TMPDIR/line"; fail "$1 does not complete $2 to: $3"; }; }
lines() { sort | paste -sd' '; }

[ "$(offers vauban ge | lines)" = 'generate get' ] || { offers vauban ge; cat "$TMPDIR/err"; fail 'bash does not complete vauban ge'; }
[ "$(offers vauban ren)" = rename ] || fail 'bash does not complete vauban ren'
[ "$(offers vauban hold)" = '' ] || fail 'bash offers an internal command'
[ "$(offers vauban edit x --require '' | lines)" = 'nothing presence' ] || fail 'bash does not complete the values of --require'
[ "$(offers vauban eph)" = ephemeral ] || fail 'bash does not complete vauban eph'
[ "$(offers vauban passcode rec)" = recovery-key ] || fail 'bash does not complete a subcommand'
[ "$(offers vauban get --he | lines)" = '--help --hex' ] || { offers vauban get --he; fail 'bash does not complete an option'; }
[ "$(offers vauban set x --when '' | lines)" = 'after-first-unlock unlocked' ] || { offers vauban set x --when ''; fail 'bash does not complete the value of an option'; }

# Items.
for verb in get set show delete edit list history undo; do
    [ "$(offers vauban $verb gith | lines)" = 'github/anna github/bert' ] || { offers vauban $verb gith; cat "$TMPDIR/err"
        fail "bash does not complete the items of vauban $verb"; }
done
[ "$(offers vauban get exa)" = example.com/anna ] || fail 'bash does not complete the password of a server'
[ "$(offers vauban get mai)" = 'mail box/anna' ] || fail 'bash does not complete a name with a space'
[ "$(offers vauban get wifi)" = 'wifi/Zoë' ] || fail 'bash does not complete a name beyond ASCII'
[ "$(offers vauban get git | lines)" = 'github/anna github/bert' ] || { offers vauban get git; fail 'bash offers a name that it could run'; }
[ ! -e "$HOME/ran" ] || fail 'bash ran the name of an item'
printf JBSWY3DPEHPK3PXP | vauban code add coded/cleo 2>/dev/null || fail 'code add failed'
[ "$(offers vauban code get '')" = coded/cleo ] || { offers vauban code get ''; fail 'bash does not complete the names that have a one-time code'; }
printf x | vauban add gone/gil 2>/dev/null && vauban delete gone/gil || fail 'delete failed'
[ "$(offers vauban undelete '')" = gone/gil ] || { offers vauban undelete ''; fail 'bash does not complete deleted items'; }
vauban delete otpauth:coded/cleo || fail 'delete failed'
# Files.
touch "$TMPDIR/passwords.csv"
(cd "$TMPDIR" && [ "$(offers vauban import passw)" = passwords.csv ] && [ "$(offers vauban run --env-file passw)" = passwords.csv ] && [ "$(offers vauban add --json passw)" = passwords.csv ]) || fail 'bash does not complete files'

for shell in fish zsh; do
    command -v "$shell" >/dev/null || { echo "there is no $shell here, so its completion was not tried"; continue; }
    "$shell" -n "$TMPDIR/completion.$shell" || fail "$shell cannot read its completion"
    completes "$shell" 'vauban gen' 'vauban generate '
    completes "$shell" 'vauban get github/an' 'vauban get github/anna '
    completes "$shell" 'vauban get example' 'vauban get example.com/anna '
    completes "$shell" 'vauban get mai' 'vauban get mail\ box/anna '
    completes "$shell" 'vauban set x --when af' 'vauban set x --when after-first-unlock '
    (cd "$TMPDIR" && completes "$shell" 'vauban import passw' 'vauban import passwords.csv ') || exit 1
    [ ! -e "$HOME/ran" ] || fail "$shell ran the name of an item"
done

# A locked keychain offers no items, and the user is not prompted.
vauban lock 2>/dev/null
[ -z "$(offers vauban get gith)" ] || fail 'completion shows names of a locked keychain'
[ ! -s "$TMPDIR/err" ] || { cat "$TMPDIR/err"; fail 'completion printed an error'; }
[ "$(offers vauban get --he | lines)" = '--help --hex' ] || fail 'options are not completed while the keychain is locked'
echo 'bash, zsh and fish complete verbs, options, values, items and files'
