#!/usr/bin/env bash
# git-credential-vauban: real git fills, approves and rejects credentials with it; and what the helper must not do.
set -u
. Tests/Scripts/lib/command-line.sh
command -v git >/dev/null || { echo 'there is no git here'; exit 77; }
mkdir -p "$TMPDIR/bin" "$TMPDIR/repository"
ln -sfn "$VAUBAN_BUILD/vauban" "$TMPDIR/bin/git-credential-vauban"
PATH=$TMPDIR/bin:$PATH
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS=
unset GIT_DIR GIT_WORK_TREE XDG_CONFIG_HOME
cd "$TMPDIR/repository" && git init -q . || fail 'git init failed'
git config --global credential.helper vauban
ask() { local operation=$1; shift; printf '%s\n' "$@" '' | git credential "$operation" >"$TMPDIR/out" 2>"$TMPDIR/err"; }
fills() {
    ask fill "${@:2}" || { cat "$TMPDIR/err"; fail "git was given nothing for ${*:2}"; }
    [ "$(sed -n 's/^username=//p' "$TMPDIR/out"):$(sed -n 's/^password=//p' "$TMPDIR/out")" = "$1" ] || { cat "$TMPDIR/out"; fail "git was given something else than $1"; }
}
nothing() { ask fill "$@" && { cat "$TMPDIR/out"; fail "git was given something for $*"; }; return 0; }

# What git approves is stored as an internet password, and is found again.
nothing protocol=https host=example.com
ask approve protocol=https host=example.com username=anna password='p=a s%s$1' || fail 'approve failed'
fills 'anna:p=a s%s$1' protocol=https host=example.com
fills 'anna:p=a s%s$1' protocol=https host=example.com username=anna
[ "$(vauban get --server example.com --account anna --protocol https)" = 'p=a s%s$1' ] || fail 'the credential is stored as something else'
vauban show example.com/anna >"$TMPDIR/shown"; expect_text 'Owner:           cli' "$TMPDIR/shown"
ask approve protocol=https host=example.com username=anna password=newer && fills anna:newer protocol=https host=example.com
[ "$(vauban list --server example.com | wc -l)" = 1 ] || fail 'a second approve made a second item'

# Another protocol, port, host or account is another item.
nothing protocol=http host=example.com
nothing protocol=https host=example.com:8443
nothing protocol=https host=other.example.com
nothing protocol=https host=example.com username=bert
ask approve protocol=https host=example.com:8443 username=anna password=port && fills anna:port protocol=https host=example.com:8443
ask approve protocol=https 'host=[::1]:99' username=anna password=six && fills anna:six protocol=https 'host=[::1]:99'
[ "$(vauban get --server '[::1]' --port 99)" = six ] || fail 'a port after an address is not one'
fills anna:newer protocol=https host=example.com

# The path counts where git sends it.
fills anna:newer protocol=https host=example.com path=team/a.git
git config --global credential.useHttpPath true
nothing protocol=https host=example.com path=team/a.git
ask approve protocol=https host=example.com path=team/a.git username=anna password=of-a
fills anna:of-a protocol=https host=example.com path=team/a.git
nothing protocol=https host=example.com path=team/b.git
git config --global --unset credential.useHttpPath
fills anna:newer protocol=https host=example.com

# An item that a user stored for it is found; one that a browser stored for a page is not.
printf by-hand | vauban set --server hand.example.com -a carl --protocol https && fills carl:by-hand protocol=https host=hand.example.com
printf web | vauban set --server web.example.com -a carl --protocol https --path /login && nothing protocol=https host=web.example.com
printf x | vauban set hand2.example.com/carl && nothing protocol=https host=hand2.example.com

# With several accounts none is chosen, and the message says how to choose.
ask approve protocol=https host=example.com username=bert password=of-bert
nothing protocol=https host=example.com
expect_text 'credential.https://example.com.username' "$TMPDIR/err"
git config --global credential.https://example.com.username bert
fills bert:of-bert protocol=https host=example.com
git config --global --unset credential.https://example.com.username
fills anna:newer protocol=https host=example.com username=anna

# Rejecting deletes the very password that failed, and no other.
ask reject protocol=https host=example.com username=anna password=not-this-one
fills anna:newer protocol=https host=example.com username=anna
ask reject protocol=https host=example.com
fills bert:of-bert protocol=https host=example.com username=bert
ask reject protocol=https host=example.com username=anna password=newer
nothing protocol=https host=example.com username=anna
fills bert:of-bert protocol=https host=example.com
fills anna:port protocol=https host=example.com:8443

# The helper by itself: unknown operations are ignored, no output means none, invalid input is refused, and input is limited.
vauban() { "$VAUBAN_BUILD/vauban" "$@"; }
helper() { printf "$2" | "${@:3}" git-credential-vauban "$1" >"$TMPDIR/out" 2>"$TMPDIR/err"; }
ends() { expected=$1; shift; helper "$@"; status=$?; [ $status = "$expected" ] || { cat "$TMPDIR/err"; fail "$* ended with $status, not with $expected"; }; }
silent() { [ ! -s "$TMPDIR/out" ] && [ ! -s "$TMPDIR/err" ] || { cat "$TMPDIR/out" "$TMPDIR/err"; fail "$* is not silent"; }; }
ends 0 get 'protocol=https\nhost=nowhere.example\n\n'; silent none
ends 0 capability 'protocol=https\nhost=example.com\n'; silent 'another word'
ends 0 get 'protocol=https\nhost=example.com\nwwwauth[]=Basic realm="x"\nnews=1'
printf 'username=bert\npassword=of-bert\n' | cmp - "$TMPDIR/out" || fail 'the answer is not the protocol'
ends 0 get 'protocol=cert\npath=/a/key.pem\n'; silent 'no host'
ends 0 store 'protocol=https\nhost=half.example\nusername=x\n'; silent 'half a credential'
expect_status 44 vauban list --server half.example
ends 64 get 'protocol=https\nnonsense\n'; ends 64 get 'protocol=https\nhost=a\0b\n'; ends 64 get 'protocol=https\nhost=\377\n'
expect_status 64 git-credential-vauban; expect_text 'USAGE: git-credential-vauban ' "$TMPDIR/err"
{ printf 'protocol=https\nhost='; head -c 200000 /dev/zero | tr '\0' x; } | git-credential-vauban get >"$TMPDIR/out" 2>&1; [ $? = 64 ] || fail 'the input is not bounded'
printf 'two\nlines' | vauban set --server lines.example -a x --protocol https --keep-newline
ends 64 get 'protocol=https\nhost=lines.example\n'; [ ! -s "$TMPDIR/out" ] || fail 'a secret of two lines was given to git'
printf x | vauban set --server lines2.example -a "$(printf 'x\npassword=y')" --protocol https
ends 64 get 'protocol=https\nhost=lines2.example\n'; [ ! -s "$TMPDIR/out" ] || fail 'an account of two lines was given to git'
[ "$(printf 'protocol=https\nhost=hand.example.com\n' | vauban git-credential get | tail -n 1)" = password=by-hand ] || fail 'the verb is not the helper'
expect_status 0 vauban git-credential --help
expect_text Example "$TMPDIR/out"

# An item that requires the user: reading prompts, and git neither changes nor deletes it. The helper does not wait for a locked keychain.
set_passcode
printf sealed | vauban set --server asks.example -a anna --protocol https --require presence
nothing protocol=https host=asks.example
git config --global credential.helper '!f() { vauban-with-passcode "$1"; }; f'
printf '#!/bin/sh\nexec git-credential-vauban "$1" --passcode-fd 9 9<"%s"\n' "$TMPDIR/passcode" >"$TMPDIR/bin/vauban-with-passcode"; chmod 755 "$TMPDIR/bin/vauban-with-passcode"
printf '%s\n' "$passcode" >"$TMPDIR/passcode"
fills anna:sealed protocol=https host=asks.example
git config --global credential.helper vauban
ask approve protocol=https host=asks.example username=anna password=other; [ ! -s "$TMPDIR/err" ] || { cat "$TMPDIR/err"; fail 'each push would say something'; }
ask reject protocol=https host=asks.example username=anna password=sealed
expect_text 'git does not delete it' "$TMPDIR/err"
[ "$(vauban get --server asks.example --passcode-fd 9 9<"$TMPDIR/passcode")" = sealed ] || fail 'git changed an item that requires approval'
vauban lock
printf 'protocol=https\nhost=hand.example.com\n\n' | setsid --wait git credential fill >"$TMPDIR/out" 2>"$TMPDIR/err" && fail 'a locked keychain gave something'
echo 'git keeps its passwords here'
