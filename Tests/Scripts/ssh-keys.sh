#!/usr/bin/env bash
# What is done with keys for SSH besides signing: git set up to sign commits and set back, where a key is registered, and a key that is
# changed for a new one; with the real git and ssh-keygen.
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/ssh.sh
set_passcode
for name in work second; do vauban ssh new $name >"$TMPDIR/$name.pub" || fail "no key $name"; done
ssh-keygen -q -t ed25519 -N '' -C imported -f "$TMPDIR/imported" && vauban ssh import "$TMPDIR/imported" >/dev/null || fail 'no key was imported'
rm "$TMPDIR/imported"
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
unset GIT_DIR GIT_WORK_TREE GIT_CONFIG_GLOBAL
start_agent "$agent"
export SSH_AUTH_SOCK=$agent

# Outside of a repository, without an address, without the key: a sentence, and nothing is written.
mkdir "$TMPDIR/empty" "$TMPDIR/repository"
cd "$TMPDIR/empty" || exit 1
expect_status 64 vauban ssh sign-commits work; expect_text 'not in a git repository' "$TMPDIR/err"
expect_status 64 vauban ssh sign-commits work --global; expect_text 'user.email' "$TMPDIR/err"
[ ! -e "$HOME/.gitconfig" ] && [ ! -e "$HOME/.config" ] || fail 'something was written'
git config --global user.email anna@example.org; git config --global user.name Anna
cp "$HOME/.gitconfig" "$TMPDIR/gitconfig.before"
expect_status 44 vauban ssh sign-commits wrk --global; expect_text 'Did you mean work' "$TMPDIR/err"
expect_status 64 vauban ssh sign-commits; expect_status 64 vauban ssh sign-commits work --undo
cmp "$HOME/.gitconfig" "$TMPDIR/gitconfig.before" || fail 'a refusal changed the settings'
# One command, and git signs and verifies.
expect_status 0 vauban ssh sign-commits work --global
for words in 'gpg.format is ssh' 'user.signingKey is key::ecdsa' 'commit.gpgSign is true' 'lists this key'; do expect_text "$words" "$TMPDIR/err"; done
commit() { git commit -q --allow-empty -m "$1" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'git does not commit'; }; }
verifies() { git log -1 --format='%G? %GS' >"$TMPDIR/out"; [ "$(cat "$TMPDIR/out")" = "$1" ] || { cat "$TMPDIR/out"; git log -1 --show-signature; fail "the signature is not: $1"; }; }
cd "$TMPDIR/repository" && git init -q . || fail 'git init failed'
commit first; verifies 'G anna@example.org'
expect_status 0 vauban ssh sign-commits work --global; expect_text 'already' "$TMPDIR/err"
[ "$(wc -l <"$HOME/.config/git/allowed_signers")" = 1 ] || fail 'the signer is named twice'
# Another key for one repository, which has settings and a file of signers of its own.
git config gpg.ssh.allowedSignersFile "$TMPDIR/signers"; printf '# mine' >"$TMPDIR/signers"; git config commit.gpgSign false
git config --local --list | sort >"$TMPDIR/local.before"
expect_status 0 vauban ssh sign-commits imported; expect_text 'commit.gpgSign is true (it was false)' "$TMPDIR/err"
commit second; verifies 'G anna@example.org'
[ "$(head -n 1 "$TMPDIR/signers")" = '# mine' ] && [ "$(wc -l <"$TMPDIR/signers")" = 2 ] || { cat "$TMPDIR/signers"; fail 'the file of signers was not only added to'; }
git log -1 --format=%GK | grep -q "$(ssh-keygen -lf "$TMPDIR/imported.pub" | cut -d' ' -f2)" || fail 'another key signed'
expect_status 0 vauban ssh sign-commits second; commit third; verifies 'G anna@example.org'
expect_status 0 vauban ssh sign-commits --undo
git config --local --list | sort | diff "$TMPDIR/local.before" - || fail 'the settings of the repository are not as before'
expect_status 0 vauban ssh sign-commits --undo; expect_text 'nothing was changed' "$TMPDIR/err"
# What the user changed since stays.
git config --global user.signingKey mine
expect_status 0 vauban ssh sign-commits --undo --global; expect_text 'user.signingKey was changed since' "$TMPDIR/err"
git config --global --unset user.signingKey
git config --global --list | sort | diff <(git config --file "$TMPDIR/gitconfig.before" --list | sort) - || fail 'the settings of the user are not as before'
# It is said where git's agent does not have the key.
SSH_AUTH_SOCK=$TMPDIR/nowhere expect_status 0 vauban ssh sign-commits work; expect_text 'vauban ssh enable' "$TMPDIR/err"
expect_status 0 vauban ssh sign-commits --undo
git config --add gpg.format ssh; git config --add gpg.format openpgp
expect_status 64 vauban ssh sign-commits work; expect_text 'several values' "$TMPDIR/err"
cd "$OLDPWD" || exit 1

# Where a key is registered.
expect_status 0 vauban ssh where work; [ ! -s "$TMPDIR/out" ] || fail 'a new key is registered somewhere'
expect_status 0 vauban ssh where work --add git.example.org --add 'build 3, as deploy'
expect_status 0 vauban ssh where work --add git.example.org
expect_status 0 vauban ssh where work
[ "$(cut -f1 "$TMPDIR/out")" = "$(printf 'git.example.org\nbuild 3, as deploy')" ] || { cat "$TMPDIR/out"; fail 'the places are others'; }
cut -f2 "$TMPDIR/out" | grep -qvE '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' && fail 'a place has no day'
expect_status 44 vauban ssh where work --remove elsewhere
expect_status 44 vauban ssh where none --add x
for place in '' "$(printf 'two\nlines')" "$(head -c 300 /dev/zero | tr '\0' x)"; do expect_status 64 vauban ssh where work --add "$place"; done
expect_status 0 vauban ssh where work --remove 'build 3, as deploy'
[ "$(vauban ssh where work | cut -f1)" = git.example.org ] || fail 'a place was not removed'

# Rotation: both keys sign until the new one is recorded wherever the old one was.
expect_status 44 vauban ssh rotate none
expect_status 44 vauban ssh rotate work --finish; expect_text 'no rotation of work is in progress' "$TMPDIR/err"
expect_status 0 vauban ssh rotate work; cp "$TMPDIR/out" "$TMPDIR/new.pub"
expect_text git.example.org "$TMPDIR/err"
expect_status 45 vauban ssh rotate work
for name in work new; do offers "$agent" "$TMPDIR/$name.pub" && signs "$agent" "$TMPDIR/$name.pub" || fail "$name does not sign"; done
expect_status 64 vauban ssh rotate work --finish; expect_text 'registered at git.example.org' "$TMPDIR/err"
signs "$agent" "$TMPDIR/work.pub" || fail 'a refusal deleted the old key'
vauban ssh where work-new --add git.example.org || fail 'no place for the new key'
expect_status 0 vauban ssh rotate work --finish
signs "$agent" "$TMPDIR/work.pub" && fail 'the old key still signs'
signs "$agent" "$TMPDIR/new.pub" || fail 'the new key does not sign'
[ "$(vauban ssh list work --public | cut -d' ' -f2)" = "$(cut -d' ' -f2 "$TMPDIR/new.pub")" ] || fail 'the new key has another name'
[ "$(vauban ssh where work | cut -f1)" = git.example.org ] || fail 'the places did not come along'
vauban ssh list | grep -q work-new && fail 'the new key has two names'
expect_status 44 vauban ssh rotate work --finish
# What was interrupted after the old key was deleted goes on. A key that asks is followed by one that asks.
vauban ssh new asking --require presence >/dev/null && vauban ssh where asking --add forge.example.org || fail 'no key that asks'
expect_status 0 vauban ssh rotate asking
vauban ssh list | grep -P '^asking-new\t.*asks' >/dev/null || fail 'the new key does not ask'
vauban ssh delete asking --yes
expect_status 0 vauban ssh rotate asking --finish; vauban ssh list | grep -qP '^asking\t' || fail 'it did not go on'
# An imported key is followed by one of the enclave; --yes forgoes the record. A deleted key's places go.
vauban ssh where imported --add old.example.org; expect_status 0 vauban ssh rotate imported
expect_status 0 vauban ssh rotate imported --finish --yes
vauban ssh list | grep -P '^imported\t' | grep -q 'made here' || fail 'the imported key is still there'
signs "$agent" "$TMPDIR/imported.pub" && fail 'the imported key still signs'
expect_status 0 vauban ssh delete work --yes; vauban list | grep -q ssh-places/work && fail 'the places of a deleted key stay'
expect_status 64 vauban ssh rotate second --yes; expect_status 64 vauban ssh rotate second --finish --require presence
echo 'git signs, places are recorded, and keys are rotated'
