#!/usr/bin/env bash
# Ownership of items in system mode: programs of one user, the same program of two users, the user's own items, groups that root grants,
# scripts, new builds, and permissions; with real rooms, real users and real programs through Apple's API.
# proves: C-030 C-032 C-033 C-097 C-167
# proves-equivalent: C-031
set -u
. Tests/Scripts/lib/system-rooms.sh

# Three programs that root installed, one file each; two of alice's own, of different content.
for name in mail chat denied; do cp "$bin/keychain-caller" /usr/local/games/bin/$name; done
chmod 755 /usr/local/games/bin/*
own=$TMPDIR/alice
for name in tool other; do cp "$bin/keychain-caller" "$own/$name"; printf '%s' "$name" >>"$own/$name"; chown vauban-test-alice "$own/$name"; done
entitlement() { cat >"/etc/vauban/entitlements/$1.plist"; chmod 644 "/etc/vauban/entitlements/$1.plist"; }
entitlement shared <<'PLIST'
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>vauban-applications</key><array><string>program:/usr/local/games/bin/mail</string><string>program:/usr/local/games/bin/chat</string></array>
<key>application-identifier</key><string>TEAM.app</string>
<key>com.apple.security.application-groups</key><array><string>group.both</string></array>
</dict></plist>
PLIST
entitlement denied <<'PLIST'
<plist version="1.0"><dict><key>vauban-applications</key><array><string>program:/usr/local/games/bin/denied</string><string>program:/usr/local/games/bin/refused</string></array>
<key>com.apple.private.keychain.deny</key><true/></dict></plist>
PLIST
# Both would share TEAM.app: the second gets a file of its own that comes first.
entitlement a-chat <<'PLIST'
<plist version="1.0"><dict><key>vauban-applications</key><array><string>program:/usr/local/games/bin/chat</string></array>
<key>com.apple.security.application-groups</key><array><string>group.both</string></array></dict></plist>
PLIST
start_rooms
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
check 'bob sets another' eval 'with_passcode bob passcode set 2>/dev/null'

# Two programs of one user, and the same program of two.
check 'a program keeps an item' equals "$(by alice /usr/local/games/bin/mail add a 'of mail')" 0
check 'it reads it' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'
check 'another of the same user does not see it' equals "$(by alice /usr/local/games/bin/chat get a)" -25300
check 'nor changes or deletes it' eval 'equals "$(by alice /usr/local/games/bin/chat update a x)" -25300 && equals "$(by alice /usr/local/games/bin/chat delete a)" -25300'
check 'the same program of bob does not see it' equals "$(by bob /usr/local/games/bin/mail get a)" -25300
check 'bob keeps his under the same name' eval 'equals "$(by bob /usr/local/games/bin/mail add a "of bob")" 0 && equals "$(by bob /usr/local/games/bin/mail get a)" "0 of bob"'
check 'another keeps one under the same name' eval 'equals "$(by alice /usr/local/games/bin/chat add a "of chat")" 0 && equals "$(by alice /usr/local/games/bin/chat get a)" "0 of chat"'
check 'each lists its own' eval 'equals "$(by alice /usr/local/games/bin/chat list "")" "0 a@program:/usr/local/games/bin/chat" && equals "$(by alice /usr/local/games/bin/mail list "")" "0 a@TEAM.app"'

# Private keys of the enclave: whether a program may use one is found out first, then what it asks for, then it is used.
install -m 755 "$VAUBAN_BUILD/keychain-caller" /usr/local/games/bin/signer && install -m 755 "$VAUBAN_BUILD/keychain-caller" /usr/local/games/bin/notary
printf notary >>/usr/local/games/bin/notary
check 'a program keeps a key and signs' eval 'equals "$(by alice /usr/local/games/bin/signer key make k)" 0 && by alice /usr/local/games/bin/signer key sign k 00 | grep -q "^0 30"'
check 'another of the same user does not find it' equals "$(by alice /usr/local/games/bin/notary key sign k 00)" -25300
check 'nor the same program of bob' equals "$(by bob /usr/local/games/bin/signer key sign k 00)" -25300
check 'one that asks for alice is refused while she cannot be asked' eval 'equals "$(by alice /usr/local/games/bin/signer key make p presence)" 0 && equals "$(by alice /usr/local/games/bin/signer key sign p 00)" -25308'
check 'another hears that there is none, and not that it asks' equals "$(by alice /usr/local/games/bin/notary key sign p 00)" -25300
install -m 755 "$VAUBAN_BUILD/keychain-caller" /usr/local/games/bin/refused && printf refused >>/usr/local/games/bin/refused
check 'one that root denies the keychain makes none' equals "$(by alice /usr/local/games/bin/refused key make k)" -34018
check 'locked, it does not sign' eval 'alice lock 2>/dev/null; equals "$(by alice /usr/local/games/bin/signer key sign k 00)" -25308; with_passcode alice unlock 2>/dev/null'

# Groups that root grants.
check 'a group that both have is shared' eval 'equals "$(by alice /usr/local/games/bin/mail add s both group.both)" 0 && equals "$(by alice /usr/local/games/bin/chat get s)" "0 both"'
check 'a group that a program has not is refused, not missing' equals "$(by alice /usr/local/games/bin/chat get a - TEAM.app)" -34018
check 'so is adding to it' equals "$(by alice /usr/local/games/bin/chat add z x TEAM.app)" -34018
check 'a program without a grant has no other group' equals "$(by alice "$own/tool" add z x group.both)" -34018
check 'one that root denies gets nothing' equals "$(by alice /usr/local/games/bin/denied get a)" -34018
check 'alice cannot grant herself a group' eval '! by alice cp /etc/vauban/entitlements/shared.plist /etc/vauban/entitlements/zz.plist 2>/dev/null'

# The applications that an item names.
check 'an item names who else may ask for it' equals "$(by alice /usr/local/games/bin/chat add named "for both" "" /usr/local/games/bin/mail)" 0
check 'that program does not find it without naming whose it is' eval 'equals "$(by alice /usr/local/games/bin/mail get named)" -25300 && ! by alice /usr/local/games/bin/mail list "" | grep -q named'
check 'by its owner it is refused while nobody can be asked' equals "$(by alice /usr/local/games/bin/mail get named - program:/usr/local/games/bin/chat)" -25308
check 'and nobody else may ask' eval 'equals "$(by alice "$own/tool" get named)" -25300 && equals "$(by alice "$own/tool" get named - program:/usr/local/games/bin/chat)" -34018'

# Programs of alice's own, by their content.
check 'a program of her own keeps an item' eval 'equals "$(by alice "$own/tool" add t "of the tool")" 0 && equals "$(by alice "$own/tool" get t)" "0 of the tool"'
check 'another program of her own does not see it' equals "$(by alice "$own/other" get t)" -25300
cp -p "$own/tool" "$own/elsewhere"
check 'the same content elsewhere is the same program' equals "$(by alice "$own/elsewhere" get t)" '0 of the tool'
# A new build at the same place.
cp -p "$own/tool" "$own/tool.first"
cp "$own/tool" "$own/tool.new" && printf 'second' >>"$own/tool.new" && chown vauban-test-alice "$own/tool.new" && mv "$own/tool.new" "$own/tool"
check 'a new build is refused while nobody can be asked, and not told that there is nothing' equals "$(by alice "$own/tool" get t)" -25308

# An approver of alice's, on a terminal of its own, answers what comes.
approve() { cat >"$TMPDIR/steps"; play alice "$bin/vauban" approve <"$TMPDIR/steps" >"$TMPDIR/approver" 2>&1 & approver=$!; for _ in $(seq 1000); do alice status 2>/dev/null | grep -q 'for all programs at' && return 0; done; return 1; }
approved() { wait "$approver"; status=$?; [ "$status" = 130 ] || { cat "$TMPDIR/approver"; return 1; }; }
approve <<PLAY
expect Prompts appear here
expect $own/tool
expect new version
expect asscode
secret alice passcode
expect Accepted
key ctrl-c
PLAY
check 'with an approver she is shown the new build' equals "$(by alice "$own/tool" get t)" '0 of the tool'
check 'she was asked' approved
check 'and it is not asked about again' equals "$(by alice "$own/tool" get t)" '0 of the tool'

# What an item offers: asked once, kept where she says always, and never in the place of the program's own.
approve <<PLAY
expect Prompts appear here
expect to read a secret that another program keeps
expect callers/named
expect Kept by:  program:/usr/local/games/bin/chat
expect Allow:
secret a
expect asscode
secret alice passcode
expect Accepted
key ctrl-c
PLAY
check 'a program reads what it was offered after her yes' equals "$(by alice /usr/local/games/bin/mail get named - program:/usr/local/games/bin/chat)" '0 for both'
check 'she was asked for it' approved
check 'and not again, but by its owner alone' eval 'equals "$(by alice /usr/local/games/bin/mail get named - program:/usr/local/games/bin/chat)" "0 for both" && equals "$(by alice /usr/local/games/bin/mail get named)" -25300'

# The user's own hand.
check 'set says once who can read it' eval 'printf "by hand" | alice set notes/me 2>"$TMPDIR/err" && grep -q "any program that you run can read this" "$TMPDIR/err"'
check 'not a second time' eval 'printf "by hand 2" | alice set notes/other 2>"$TMPDIR/err" && ! grep -q "any program that you run" "$TMPDIR/err"'
check 'whatever shell starts it, it is the same group' eval 'equals "$(as vauban-test-alice sh -c "\"$bin/vauban\" get notes/me")" "by hand" && equals "$(as vauban-test-alice python3 -c "import subprocess; print(subprocess.run([\"$bin/vauban\", \"get\", \"notes/me\"], capture_output=True, text=True).stdout)")" "by hand"'
check 'a program does not see what she keeps by hand' equals "$(by alice /usr/local/games/bin/mail get me)" -25300
check 'vauban does not show what programs keep' eval 'alice list >"$TMPDIR/listed" 2>/dev/null && grep -q "notes/me" "$TMPDIR/listed" && ! grep -q callers "$TMPDIR/listed"'
tool_owner=build:$(sha256sum "$own/tool.first" | cut -d ' ' -f 1)
check 'one of them is not found, and the way to it is said' eval 'refused 44 alice get callers/t && grep -qxF "vauban: No item callers/t of yours. To list items: vauban list. If another program keeps it: vauban get callers/t --owner program:/PATH" "$TMPDIR/out"'
check 'a slip in a name of hers is answered with the name' eval 'play alice "$bin/vauban" get notes/mee </dev/null >"$TMPDIR/shown"; [ $? = 44 ] && grep -qF "No item notes/mee of yours. Did you mean notes/me? If another program keeps it: vauban get notes/mee --owner program:/PATH" "$TMPDIR/shown"'
check 'what only she can have is not looked for elsewhere' eval 'refused 44 alice show notes/mee && grep -qF "No item notes/mee. To list items" "$TMPDIR/out"'
check 'by its owner it is refused without a place to ask, whether it is there or not' eval 'refused 36 alice get callers/t --owner "$tool_owner" && refused 36 alice get callers/nowhere --owner "$tool_owner"'
cat >"$TMPDIR/list" <<PLAY
expect what every program keeps
expect asscode
secret alice passcode
expect owner: program:/usr/local/games/bin/chat
PLAY
check 'after her passcode she sees what every program keeps' eval 'play alice "$bin/vauban" list --all-owners <"$TMPDIR/list" >"$TMPDIR/shown"'
check 'with no value among it' eval '! grep -q "of chat\|of mail" "$TMPDIR/shown"'
cat >"$TMPDIR/read" <<PLAY
expect Program:
expect vauban
expect to read a secret that another program keeps
expect callers/t
expect Allow:
secret o
expect asscode
secret alice passcode
expect of the tool
PLAY
check 'once she lets it, vauban reads what a program keeps' eval 'play alice sh -c "\"$bin/vauban\" get callers/t --owner $tool_owner; exit 0" <"$TMPDIR/read" >"$TMPDIR/shown"'
check 'once is once' refused 36 as vauban-test-alice sh -c "\"$bin/vauban\" get callers/t --owner $tool_owner; exit \$?"

# What is deleted of another is the one item that is meant.
check 'two items of a program have one name and two accounts' eval 'equals "$(by alice /usr/local/games/bin/chat add d1 one)$(by alice /usr/local/games/bin/chat add d2 two)" 00'
cat >"$TMPDIR/list-and-stop" <<PLAY
expect what every program keeps
expect asscode
secret alice passcode
expect ore than one item matches
PLAY
play alice "$bin/vauban" delete --service callers --owner program:/usr/local/games/bin/chat <"$TMPDIR/list-and-stop" >"$TMPDIR/shown"
check 'where several match none is deleted, and each is named' eval '[ $? = 64 ] || equals "$(by alice /usr/local/games/bin/chat get d1) $(by alice /usr/local/games/bin/chat get d2)" "0 one 0 two" && grep -q -- "--account d1" "$TMPDIR/shown" && grep -q -- "--account d2" "$TMPDIR/shown"'
cat >"$TMPDIR/delete" <<PLAY
expect what every program keeps
expect asscode
secret alice passcode
expect Delete it?
send yes
expect delete
expect asscode
secret alice passcode
PLAY
check 'one is deleted after two answers' eval 'play alice "$bin/vauban" delete callers/d2 --owner program:/usr/local/games/bin/chat <"$TMPDIR/delete" >"$TMPDIR/shown"'
check 'and no other' equals "$(by alice /usr/local/games/bin/chat get d1) $(by alice /usr/local/games/bin/chat get d2)" '0 one -25300'
check 'nor is one by the account that is not given' eval 'play alice "$bin/vauban" delete --service callers --account "" --owner program:/usr/local/games/bin/chat <"$TMPDIR/list" >"$TMPDIR/shown"; [ $? != 0 ] && equals "$(by alice /usr/local/games/bin/chat get d1)" "0 one"'

# What she allows.
cat >"$TMPDIR/allow" <<PLAY
expect to change which programs may read which secrets
expect asscode
secret alice passcode
expect Allowed
PLAY
check 'she allows a program to read an item of another' eval 'play alice "$bin/vauban" allow /usr/local/games/bin/mail callers/a --owner program:/usr/local/games/bin/chat <"$TMPDIR/allow" >"$TMPDIR/shown"'
check 'it is shown' eval 'alice allow 2>/dev/null | grep -q "program:/usr/local/games/bin/mail"'
check 'without presence nothing is allowed' refused 36 alice allow "$own/other" callers/s --owner group.both
check 'she takes it back' eval 'alice disallow /usr/local/games/bin/mail callers/a --owner program:/usr/local/games/bin/chat 2>/dev/null && alice allow >"$TMPDIR/allowed" 2>/dev/null && ! grep -q "program:/usr/local/games/bin/mail.*callers/a" "$TMPDIR/allowed"'

# A script is shown as what runs it.
cat >"$own/script" <<'SCRIPT'
import subprocess, sys
print(subprocess.run([sys.argv[1], "get", "callers/t", "--owner", sys.argv[2]], capture_output=True, text=True).stdout)
SCRIPT
chown vauban-test-alice "$own/script"
approve <<PLAY
expect Prompts appear here
expect Started by
expect python3
expect Which script or command asks is unknown
expect Allow:
secret l
expect asscode
secret alice passcode
expect Accepted
key ctrl-c
PLAY
check 'a script that starts vauban is shown as a script, until the lock' equals "$(as vauban-test-alice python3 "$own/script" "$bin/vauban" "$tool_owner")" 'of the tool'
check 'she was asked that' approved
check 'it is not asked about again' equals "$(as vauban-test-alice python3 "$own/script" "$bin/vauban" "$tool_owner")" 'of the tool'
check 'until the lock' eval 'alice lock 2>/dev/null && with_passcode alice unlock 2>/dev/null && equals "$(as vauban-test-alice python3 "$own/script" "$bin/vauban" "$tool_owner")" "" && refused 36 as vauban-test-alice python3 -c "import subprocess, sys; sys.exit(subprocess.run([\"$bin/vauban\", \"get\", \"callers/t\", \"--owner\", \"$tool_owner\"]).returncode)"'

# Where she does not ask about builds.
check 'builds of a folder: not without her' refused 36 alice allow build "$own"
cat >"$TMPDIR/build" <<PLAY
expect new builds in
expect asscode
secret alice passcode
expect accepted
PLAY
check 'builds of a folder: with her passcode' eval 'play alice "$bin/vauban" allow build "$own" <"$TMPDIR/build" >"$TMPDIR/shown"'
check 'status calls it weak' eval 'alice status 2>/dev/null | grep -q "weak: any new build in $own"'
cp "$own/tool" "$own/tool.new" && printf 'third' >>"$own/tool.new" && chown vauban-test-alice "$own/tool.new" && mv "$own/tool.new" "$own/tool"
check 'a build there is accepted without a question' equals "$(by alice "$own/tool" get t)" '0 of the tool'

mkdir "$own/gone"; chown vauban-test-alice "$own/gone"
sed "s|accepted|are accepted|" "$TMPDIR/build" >"$TMPDIR/build-gone"
check 'a folder is allowed' eval 'play alice "$bin/vauban" allow build "$own/gone" <"$TMPDIR/build-gone" >"$TMPDIR/shown"'
rmdir "$own/gone"
check 'and disallowed when it is gone' eval 'refused 0 alice disallow build "$own/gone" && ! alice allow 2>/dev/null | grep -q "$own/gone"'
check 'one that is neither there nor allowed is wrong use' eval 'refused 64 alice disallow build "$own/gone"'
check 'a name in an error cannot write to the terminal' eval 'refused 64 alice disallow build "$(printf "/x\033[2J")" && ! grep -q "$(printf "\033")" "$TMPDIR/out"'

# What belongs to nobody: kept without a question by a program that has no identity, read with one, and given to an owner.
loader=$(readelf -l "$bin/keychain-caller" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
unknown() { as vauban-test-alice "$loader" /usr/local/games/bin/mail "$@"; }
check 'a program that another one runs has no identity, and keeps what belongs to nobody' eval 'equals "$(unknown add u "of nobody")" 0 && equals "$(by alice /usr/local/games/bin/mail get u)" -25300'
check 'it reads that only with a yes' equals "$(unknown get u)" -25308
check 'by its owner it is told the same of what is there and of what is not' eval 'equals "$(unknown get a - TEAM.app)" -25308 && equals "$(unknown get nowhere - TEAM.app)" -25308 && equals "$(unknown get a)" -25300'
check 'it adds to no other group' equals "$(unknown add z x cli)" -34018
check 'nothing is given away without her' refused 36 alice give cli
cat >"$TMPDIR/give" <<PLAY
expect to give secrets to another owner
expect asscode
secret alice passcode
expect 1 item given to cli
PLAY
check 'what belongs to nobody becomes hers' eval 'play alice "$bin/vauban" give cli <"$TMPDIR/give" >"$TMPDIR/shown" && equals "$(alice get callers/u)" "of nobody"'
check 'and is not the program'"'"'s any more' equals "$(unknown get u)" -25300

# One item to another owner, or a copy of it: at her word, whoever started `vauban`, and never out of sight of it.
check 'she keeps one by hand to move' eval 'printf "to move" | as vauban-test-alice "$bin/vauban" add callers/moved 2>/dev/null'
mailbox=program:/usr/local/games/bin/chat
check 'nothing is put among a program'"'"'s own without her' eval 'refused 36 alice move callers/moved --to $mailbox && refused 36 alice copy callers/moved --to $mailbox && equals "$(by alice /usr/local/games/bin/chat get moved)" -25300'
check 'nor taken from it' eval 'refused 36 alice copy callers/named --owner $mailbox --to cli && refused 36 alice move callers/named --owner $mailbox --to cli && equals "$(by alice /usr/local/games/bin/chat get named)" "0 for both"'
cat >"$TMPDIR/move" <<PLAY
expect to give secrets to another owner
expect callers/moved
expect $mailbox
expect asscode
absent to move
secret alice passcode
PLAY
check 'with her yes it is the program'"'"'s' eval 'play alice "$bin/vauban" move callers/moved --to $mailbox <"$TMPDIR/move" >"$TMPDIR/shown" && equals "$(by alice /usr/local/games/bin/chat get moved)" "0 to move" && refused 44 alice show callers/moved'
cat >"$TMPDIR/taken" <<PLAY
expect to see what every program keeps
expect asscode
secret alice passcode
expect to give secrets to another owner
expect callers/named
expect asscode
absent for both
secret alice passcode
PLAY
check 'with her yes a program'"'"'s is hers' eval 'play alice "$bin/vauban" move callers/named --owner $mailbox --to cli <"$TMPDIR/taken" >"$TMPDIR/shown" && equals "$(alice get callers/named)" "for both"'
check 'and what the program let others read has ended' eval 'equals "$(by alice /usr/local/games/bin/chat get named)" -25300 && equals "$(by alice /usr/local/games/bin/mail get named)" -25300'

# Stored rows carry their group: what keychaind is not asked for does not leave it.
check 'after a restart of keychaind it is the same' eval 'kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; start_keychain; for _ in $(seq 1000); do [ "$(by alice /usr/local/games/bin/mail get a)" = "0 of mail" ] && break; done; equals "$(by alice /usr/local/games/bin/chat get a)" "0 of chat" && equals "$(by alice "$own/other" get t)" -25300'
# An export has what is hers, and another user who is given it has that as their own.
printf 'a passphrase of its own\n' >"$TMPDIR/passphrase"
check 'she exports what is hers' eval 'as vauban-test-alice "$bin/vauban" export - --passcode-fd 3 --passphrase-fd 4 3<"$TMPDIR/alice.passcode" 4<"$TMPDIR/passphrase" >"$TMPDIR/exported" 2>"$TMPDIR/err" </dev/null'
check 'a wrong passcode exports nothing' eval '! as vauban-test-alice "$bin/vauban" export - --passcode-fd 3 --passphrase-fd 4 3<"$TMPDIR/bob.passcode" 4<"$TMPDIR/passphrase" >"$TMPDIR/none" 2>/dev/null </dev/null && [ ! -s "$TMPDIR/none" ]'
check 'bob takes it in' eval 'as vauban-test-bob "$bin/vauban" import - --passphrase-fd 4 4<"$TMPDIR/passphrase" <"$TMPDIR/exported" 2>"$TMPDIR/err"'
check 'with what she keeps by hand, as his own' eval 'equals "$(bob get notes/me)" "by hand" && bob show notes/me | grep -q "^Owner: *cli$"'
check 'and nothing that her programs keep' eval '! bob list 2>/dev/null | grep -qE "callers/(t|a|s|d1)([^a-z0-9]|$)"'

check 'SECURITY.md says what stands for a signature' grep -qF "a program's own group comes from what the kernel says it executes" SECURITY.md
finish
