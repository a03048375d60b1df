#!/usr/bin/env bash
# Uses of SSH keys besides signing: git set up to sign commits and reset, the places where a key is registered, and the rotation of a key; with
# the real git and ssh-keygen.
set -u
hostile=$PWD/Tests/Scripts/lib/ssh-hostile.py
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

# From the sixth key or certificate on, servers may refuse before the right one, and it is said how to name it.
for name in fourth fifth; do expect_status 0 vauban ssh new $name; [ ! -s "$TMPDIR/err" ] || { cat "$TMPDIR/err"; fail 'a hint for five keys'; }; done
expect_status 0 vauban ssh new sixth; expect_text 'The agent now offers 6 keys and certificates' "$TMPDIR/err"; expect_text 'IdentitiesOnly yes' "$TMPDIR/err"
for name in fourth fifth sixth; do expect_status 0 vauban ssh delete $name --yes; done

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
verifies() {
    git log -1 --format='%G? %GS' >"$TMPDIR/out"; [ "$(cat "$TMPDIR/out")" = "$1" ] || { cat "$TMPDIR/out"; git log -1 --show-signature; fail "the signature is not: $1"; }
}
cd "$TMPDIR/repository" && git init -q . || fail 'git init failed'
commit first; verifies 'G anna@example.org'
expect_status 0 vauban ssh sign-commits work --global; expect_text 'already' "$TMPDIR/err"
[ "$(wc -l <"$HOME/.config/git/allowed_signers")" = 1 ] || fail 'the signer is named twice'
# Another key for one repository, which has its own settings and file of signers.
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
# A file of signers that is named by one character.
git config gpg.ssh.allowedSignersFile s
expect_status 0 vauban ssh sign-commits imported; expect_text 's lists this key' "$TMPDIR/err"; commit fourth; verifies 'G anna@example.org'
expect_status 0 vauban ssh sign-commits --undo; rm s
# What the user has changed since then stays.
git config --global user.signingKey mine
expect_status 0 vauban ssh sign-commits --undo --global; expect_text 'user.signingKey was changed since' "$TMPDIR/err"
git config --global --unset user.signingKey
git config --global --list | sort | diff <(git config --file "$TMPDIR/gitconfig.before" --list | sort) - || fail 'the settings of the user are not as before'
# It is reported if git's agent does not have the key.
SSH_AUTH_SOCK=$TMPDIR/nowhere expect_status 0 vauban ssh sign-commits work; expect_text 'vauban ssh enable' "$TMPDIR/err"
expect_status 0 vauban ssh sign-commits --undo
git config --add gpg.format ssh; git config --add gpg.format openpgp
expect_status 64 vauban ssh sign-commits work; expect_text 'several values' "$TMPDIR/err"
cd "$OLDPWD" || exit 1

# The places where a key is registered.
expect_status 0 vauban ssh where work; [ ! -s "$TMPDIR/out" ] || fail 'a new key is registered somewhere'
expect_text 'No place is recorded. To record one: vauban ssh where work --add PLACE' "$TMPDIR/err"
expect_status 0 vauban ssh where work --add git.example.org --add 'build 3, as deploy'
expect_status 0 vauban ssh where work --add git.example.org
expect_status 0 vauban ssh where work
[ "$(cut -f1 "$TMPDIR/out")" = "$(printf 'git.example.org\nbuild 3, as deploy')" ] || { cat "$TMPDIR/out"; fail 'the places differ'; }
cut -f2 "$TMPDIR/out" | grep -qvE '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' && fail 'a place has no day'
expect_status 44 vauban ssh where work --remove elsewhere
expect_status 44 vauban ssh where none --add x
for place in '' "$(printf 'two\nlines')" "$(head -c 300 /dev/zero | tr '\0' x)"; do expect_status 64 vauban ssh where work --add "$place"; done
expect_status 0 vauban ssh where work --remove 'build 3, as deploy'
[ "$(vauban ssh where work | cut -f1)" = git.example.org ] || fail 'a place was not removed'

# Rotation: both keys sign until the new one is recorded wherever the old one was.
expect_status 44 vauban ssh rotate none
expect_status 44 vauban ssh rotate work --finish; expect_text 'No rotation of work is in progress' "$TMPDIR/err"
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
# A rotation that was interrupted after the old key was deleted continues. A key that prompts is replaced by one that prompts.
vauban ssh new asking --require presence >/dev/null && vauban ssh where asking --add forge.example.org || fail 'no key that prompts'
expect_status 0 vauban ssh rotate asking
vauban ssh list | grep -P '^asking-new\t.*prompts' >/dev/null || fail 'the new key does not prompt'
vauban ssh list asking-new --public >"$TMPDIR/asking.pub"
offers "$agent" "$TMPDIR/asking.pub" || fail 'the new key is not offered'
vauban ssh delete asking --yes
expect_status 0 vauban ssh rotate asking --finish; vauban ssh list | grep -qP '^asking\t' || fail 'the rotation did not continue'
# Its prompt has its name, and not the one under which the agent listed it.
printf '#!/bin/sh\nSSH_AUTH_SOCK=%s setsid ssh-add -T %s </dev/null >%s 2>&1 &\necho $! >%s\n' "$agent" "$TMPDIR/asking.pub" "$TMPDIR/asked" "$TMPDIR/asker.pid" >"$TMPDIR/asker"
printf '#!/bin/sh\ntail -s 0.02 --pid="$(cat %s)" -f /dev/null\n' "$TMPDIR/asker.pid" >"$TMPDIR/wait"
chmod +x "$TMPDIR"/{asker,wait}
play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/shown" <<STEPS
expect Prompts appear here
run $TMPDIR/asker
expect with the key asking, for ssh-add
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
key ctrl-c
STEPS
[ $? = 130 ] || { cat "$TMPDIR/shown"; fail 'the prompt names a key by its old name'; }
[ ! -s "$TMPDIR/asked" ] || { cat "$TMPDIR/asked"; fail 'the renamed key does not sign'; }
# An imported key is replaced by one of the enclave; --yes skips the record. The places of a deleted key are removed.
vauban ssh where imported --add old.example.org; expect_status 0 vauban ssh rotate imported
expect_status 0 vauban ssh rotate imported --finish --yes
vauban ssh list | grep -P '^imported\t' | grep -q 'made here' || fail 'the imported key is still there'
signs "$agent" "$TMPDIR/imported.pub" && fail 'the imported key still signs'
expect_status 0 vauban ssh delete work --yes; vauban list | grep -q ssh-places/work && fail 'the places of a deleted key stay'
# In one file, too, the new key precedes what to do with it.
vauban ssh new order >/dev/null && vauban ssh rotate order >"$TMPDIR/both" 2>&1 || fail 'no rotation'
head -n 1 "$TMPDIR/both" | grep -q '^ecdsa-sha2-nistp256 .* order-new$' || { cat "$TMPDIR/both"; fail 'the new key is not the first line'; }
for name in order order-new; do expect_status 0 vauban ssh delete $name --yes; done
# Certificates of stored keys: of one created here, renewed, beside its file, and of none.
ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/authority"; ssh-keygen -q -t ed25519 -N '' -C plain -f "$TMPDIR/plain"
certify() { ssh-keygen -q -s "$TMPDIR/authority" -I "$1" -n anna "${@:3}" "$2" || fail 'no certificate'; }
certify over "$TMPDIR/second.pub" -V -2h:-1h
expect_status 0 vauban ssh import "$TMPDIR/second-cert.pub"; expect_text 'Stored for the key second: certificate “over”, expired at' "$TMPDIR/err"
certify first "$TMPDIR/second.pub" -V +52w
expect_status 0 vauban ssh import "$TMPDIR/second-cert.pub"; expect_text 'Stored for the key second: certificate “first”, valid until' "$TMPDIR/err"
vauban ssh list >"$TMPDIR/out"; grep -P '^second\t' "$TMPDIR/out" | grep -qF 'certificate “first”, valid until' || { cat "$TMPDIR/out"; fail 'the list lacks the certificate'; }
vauban ssh list second --json >"$TMPDIR/out"; expect_text '"name" : "first"' "$TMPDIR/out"; expect_text '"validUntil" : "20' "$TMPDIR/out"
offers "$agent" "$TMPDIR/second-cert.pub" && offers "$agent" "$TMPDIR/second.pub" || fail 'the certificate of an enclave key is not offered'
signs "$agent" "$TMPDIR/second-cert.pub" || fail 'a key of the enclave does not sign by its certificate'
expect_status 45 vauban ssh import "$TMPDIR/second-cert.pub"; expect_text 'already stored' "$TMPDIR/err"
cp "$TMPDIR/second-cert.pub" "$TMPDIR/first-cert.pub"; certify renewed "$TMPDIR/second.pub"
expect_status 64 vauban ssh import "$TMPDIR/second-cert.pub" --require presence
expect_status 0 vauban ssh import "$TMPDIR/second-cert.pub" --name second; expect_text 'valid forever' "$TMPDIR/err"
offers "$agent" "$TMPDIR/second-cert.pub" || fail 'the renewed certificate is not offered'
offers "$agent" "$TMPDIR/first-cert.pub" && fail 'the old certificate is still offered'
certify other "$TMPDIR/plain.pub"
expect_status 64 vauban ssh import "$TMPDIR/plain-cert.pub" --name second; expect_text 'for another key than second' "$TMPDIR/err"
expect_status 44 vauban ssh import "$TMPDIR/plain-cert.pub"; expect_text 'import its private key' "$TMPDIR/err"
offers "$agent" "$TMPDIR/second-cert.pub" || fail 'a refusal changed the certificate'
expect_status 64 vauban ssh import "$TMPDIR/plain.pub"; expect_text 'a public key without a certificate' "$TMPDIR/err"
expect_status 0 vauban ssh import "$TMPDIR/plain"; offers "$agent" "$TMPDIR/plain-cert.pub" || fail 'the certificate beside the key is not stored'
expect_status 45 vauban ssh import "$TMPDIR/plain"
certify again "$TMPDIR/plain.pub"; expect_status 0 vauban ssh import "$TMPDIR/plain"
offers "$agent" "$TMPDIR/plain-cert.pub" && signs "$agent" "$TMPDIR/plain-cert.pub" || fail 'a certificate that was renewed beside its key is not stored'
certify server "$TMPDIR/plain.pub" -h; expect_status 64 vauban ssh import "$TMPDIR/plain-cert.pub"; expect_text "a server's certificate" "$TMPDIR/err"
head -c 300 "$TMPDIR/second-cert.pub" >"$TMPDIR/cut-cert.pub"; expect_status 64 vauban ssh import "$TMPDIR/cut-cert.pub"
# The new key's certificate follows it.
expect_status 0 vauban ssh rotate second; cp "$TMPDIR/out" "$TMPDIR/third.pub"; certify third "$TMPDIR/third.pub"
expect_status 0 vauban ssh import "$TMPDIR/third-cert.pub"; expect_status 0 vauban ssh rotate second --finish
offers "$agent" "$TMPDIR/third-cert.pub" || fail 'the certificate did not follow the renamed key'
offers "$agent" "$TMPDIR/second-cert.pub" && fail 'the certificate of a deleted key is offered'
# An imported key whose value was replaced does not sign in the name of the other.
for name in victim thief; do ssh-keygen -q -t ed25519 -N '' -C $name -f "$TMPDIR/$name" && vauban ssh import "$TMPDIR/$name" >/dev/null || fail "no key $name"; done
replied() { python3 "$hostile" "$agent" "$TMPDIR/$1.pub" sign; }
[ "$(replied victim)" = signed ] || fail 'an imported key does not sign'
vauban get ssh-key/thief | vauban set ssh-key/victim --replace --keep-newline 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'the value was not replaced'; }
[ "$(replied victim)" = refused ] || fail 'another key signs in the name of an imported one'
[ "$(replied thief)" = signed ] || fail 'the other key does not sign any more'
expect_status 64 vauban ssh rotate second --yes; expect_status 64 vauban ssh rotate second --finish --require presence
echo 'git signs, places are recorded, and keys are rotated'
