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
# Both would share TEAM.app: the second gets its own file, which comes first.
entitlement a-chat <<'PLIST'
<plist version="1.0"><dict><key>vauban-applications</key><array><string>program:/usr/local/games/bin/chat</string></array>
<key>com.apple.security.application-groups</key><array><string>group.both</string></array></dict></plist>
PLIST
start_rooms
by() { who=$1; shift; as "vauban-test-$who" "$@"; }
check 'alice sets a passcode' eval 'with_passcode alice passcode set 2>/dev/null'
check 'bob sets another' eval 'with_passcode bob passcode set 2>/dev/null'

# Two programs of one user, and the same program of two.
check 'a program adds an item' equals "$(by alice /usr/local/games/bin/mail add a 'of mail')" 0
check 'it reads the item' equals "$(by alice /usr/local/games/bin/mail get a)" '0 of mail'
check 'another program of the same user does not find it' equals "$(by alice /usr/local/games/bin/chat get a)" -25300
check 'and cannot change or delete it' eval 'equals "$(by alice /usr/local/games/bin/chat update a x)" -25300 && equals "$(by alice /usr/local/games/bin/chat delete a)" -25300'
check 'the same program of bob does not find it' equals "$(by bob /usr/local/games/bin/mail get a)" -25300
check 'bob adds his own under the same name' eval 'equals "$(by bob /usr/local/games/bin/mail add a "of bob")" 0 && equals "$(by bob /usr/local/games/bin/mail get a)" "0 of bob"'
check 'another program adds one under the same name' \
    eval 'equals "$(by alice /usr/local/games/bin/chat add a "of chat")" 0 && equals "$(by alice /usr/local/games/bin/chat get a)" "0 of chat"'
check 'each lists its own items' \
    eval 'equals "$(by alice /usr/local/games/bin/chat list "")" "0 a@program:/usr/local/games/bin/chat" && equals "$(by alice /usr/local/games/bin/mail list "")" "0 a@TEAM.app"'

# Private keys of the enclave: whether the program may use one is checked before its request is examined.
install -m 755 "$VAUBAN_BUILD/keychain-caller" /usr/local/games/bin/signer && install -m 755 "$VAUBAN_BUILD/keychain-caller" /usr/local/games/bin/notary
printf notary >>/usr/local/games/bin/notary
check 'a program creates a key and signs' \
    eval 'equals "$(by alice /usr/local/games/bin/signer key make k)" 0 && by alice /usr/local/games/bin/signer key sign k 00 | grep -q "^0 30"'
check 'another program of the same user does not find the key' equals "$(by alice /usr/local/games/bin/notary key sign k 00)" -25300
check 'nor does the same program of bob' equals "$(by bob /usr/local/games/bin/signer key sign k 00)" -25300
check 'a key that requires alice is refused without a prompt agent' \
    eval 'equals "$(by alice /usr/local/games/bin/signer key make p presence)" 0 && equals "$(by alice /usr/local/games/bin/signer key sign p 00)" -25308'
check 'for another program the key is reported as missing, not as requiring a prompt' equals "$(by alice /usr/local/games/bin/notary key sign p 00)" -25300
install -m 755 "$VAUBAN_BUILD/keychain-caller" /usr/local/games/bin/refused && printf refused >>/usr/local/games/bin/refused
check 'a program to which root denies the keychain creates none' equals "$(by alice /usr/local/games/bin/refused key make k)" -34018
check 'while locked, it does not sign' eval 'alice lock 2>/dev/null; equals "$(by alice /usr/local/games/bin/signer key sign k 00)" -25308; with_passcode alice unlock 2>/dev/null'

# Groups that root grants.
check 'a group that both programs have is shared' \
    eval 'equals "$(by alice /usr/local/games/bin/mail add s both group.both)" 0 && equals "$(by alice /usr/local/games/bin/chat get s)" "0 both"'
check 'a group that a program does not have is refused, not reported as empty' equals "$(by alice /usr/local/games/bin/chat get a - TEAM.app)" -34018
check 'adding to it is refused as well' equals "$(by alice /usr/local/games/bin/chat add z x TEAM.app)" -34018
check 'a program without a grant has no other group' equals "$(by alice "$own/tool" add z x group.both)" -34018
check 'a program to which root denies the keychain gets nothing' equals "$(by alice /usr/local/games/bin/denied get a)" -34018
check 'alice cannot grant herself a group' eval '! by alice cp /etc/vauban/entitlements/shared.plist /etc/vauban/entitlements/zz.plist 2>/dev/null'

# The applications that an item names.
check 'an item is offered to another program' equals "$(by alice /usr/local/games/bin/chat add named "for both" "" /usr/local/games/bin/mail)" 0
check 'that program does not find it without naming the owner' \
    eval 'equals "$(by alice /usr/local/games/bin/mail get named)" -25300 && ! by alice /usr/local/games/bin/mail list "" | grep -q named'
check 'with the owner named it is refused without a prompt agent' equals "$(by alice /usr/local/games/bin/mail get named - program:/usr/local/games/bin/chat)" -25308
check 'and every other program is refused' \
    eval 'equals "$(by alice "$own/tool" get named)" -25300 && equals "$(by alice "$own/tool" get named - program:/usr/local/games/bin/chat)" -34018'

# Alice's own programs, by their content.
check 'her own program adds an item' eval 'equals "$(by alice "$own/tool" add t "of the tool")" 0 && equals "$(by alice "$own/tool" get t)" "0 of the tool"'
check 'her other program does not find it' equals "$(by alice "$own/other" get t)" -25300
cp -p "$own/tool" "$own/elsewhere"
check 'the same content elsewhere is the same program' equals "$(by alice "$own/elsewhere" get t)" '0 of the tool'
# A new build at the same place.
cp -p "$own/tool" "$own/tool.first"
cp "$own/tool" "$own/tool.new" && printf 'second' >>"$own/tool.new" && chown vauban-test-alice "$own/tool.new" && mv "$own/tool.new" "$own/tool"
check 'a new build is refused without a prompt agent, and the item is not reported as missing' equals "$(by alice "$own/tool" get t)" -25308

# Alice's prompt agent, on its own terminal, answers the prompts.
approve() {
    agent_steps >"$TMPDIR/steps"; play alice "$bin/vauban" approve <"$TMPDIR/steps" >"$TMPDIR/prompt_agent" 2>&1 & prompt_agent=$!
    eventually agent_waits
}
approved() { wait "$prompt_agent"; status=$?; [ "$status" = 130 ] || { cat "$TMPDIR/prompt_agent"; return 1; }; }
approve <<PLAY
expect Prompts appear here
expect $own/tool
expect new version
expect asscode
secret alice passcode
expect Accepted
key ctrl-c
PLAY
check 'with a prompt agent the prompt shows the new build' equals "$(by alice "$own/tool" get t)" '0 of the tool'
check 'the prompt appeared' approved
check 'and the build does not prompt again' equals "$(by alice "$own/tool" get t)" '0 of the tool'

# Offers of an item: one prompt, stored if she answers always, and never in place of the program's own item.
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
check 'a program reads an offered item after her consent' equals "$(by alice /usr/local/games/bin/mail get named - program:/usr/local/games/bin/chat)" '0 for both'
check 'she was prompted for it' approved
check 'and not again, but only with the owner named' \
    eval 'equals "$(by alice /usr/local/games/bin/mail get named - program:/usr/local/games/bin/chat)" "0 for both" &&
        equals "$(by alice /usr/local/games/bin/mail get named)" -25300'

# The command line as the user uses it.
check 'set reports once which programs can read it' eval 'printf "by hand" | alice set notes/me 2>"$TMPDIR/err" && grep -q "any program that you run can read this" "$TMPDIR/err"'
check 'not a second time' eval 'printf "by hand 2" | alice set notes/other 2>"$TMPDIR/err" && ! grep -q "any program that you run" "$TMPDIR/err"'
check 'it is the same group from every shell' \
    eval 'equals "$(as vauban-test-alice sh -c "\"$bin/vauban\" get notes/me")" "by hand" &&
        equals "$(as vauban-test-alice python3 -c "import subprocess; print(subprocess.run([\"$bin/vauban\", \"get\", \"notes/me\"], capture_output=True, text=True).stdout)")" "by hand"'
check 'a program does not find items of the command line' equals "$(by alice /usr/local/games/bin/mail get me)" -25300
check 'vauban does not show items of programs' eval 'alice list >"$TMPDIR/listed" 2>/dev/null && grep -q "notes/me" "$TMPDIR/listed" && ! grep -q callers "$TMPDIR/listed"'
tool_owner=build:$(sha256sum "$own/tool.first" | cut -d ' ' -f 1)
check 'an item of a program is not found, and the message says how to read it' \
    eval 'refused 44 alice get callers/t &&
        grep -qxF "vauban: No item callers/t of yours. To list items: vauban list. If another program keeps it: vauban get callers/t --owner program:/PATH" "$TMPDIR/out"'
check 'a misspelled name is answered with the right one' \
    eval 'play alice "$bin/vauban" get notes/mee </dev/null >"$TMPDIR/shown"
        [ $? = 44 ] && grep -qF "No item notes/mee of yours. Did you mean notes/me? If another program keeps it: vauban get notes/mee --owner program:/PATH" "$TMPDIR/shown"'
check 'a missing item of her own is not searched for elsewhere' eval 'refused 44 alice show notes/mee && grep -qF "No item notes/mee. To list items" "$TMPDIR/out"'
check 'with the owner named it is refused without a prompt agent, whether or not it exists' \
    eval 'refused 36 alice get callers/t --owner "$tool_owner" && refused 36 alice get callers/nowhere --owner "$tool_owner"'
cat >"$TMPDIR/list" <<PLAY
expect what every program keeps
expect asscode
secret alice passcode
expect owner: program:/usr/local/games/bin/chat
PLAY
check 'after her passcode she sees the items of every program' eval 'play alice "$bin/vauban" list --all-owners <"$TMPDIR/list" >"$TMPDIR/shown"'
check 'without any value' eval '! grep -q "of chat\|of mail" "$TMPDIR/shown"'
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
check 'with her consent, vauban reads the item of a program' eval 'play alice sh -c "\"$bin/vauban\" get callers/t --owner $tool_owner; exit 0" <"$TMPDIR/read" >"$TMPDIR/shown"'
check 'consent for one use holds once' refused 36 as vauban-test-alice sh -c "\"$bin/vauban\" get callers/t --owner $tool_owner; exit \$?"

# A deletion of another program's item deletes exactly that item.
check 'two items of a program have one name and two accounts' eval 'equals "$(by alice /usr/local/games/bin/chat add d1 one)$(by alice /usr/local/games/bin/chat add d2 two)" 00'
cat >"$TMPDIR/list-and-stop" <<PLAY
expect what every program keeps
expect asscode
secret alice passcode
expect ore than one item matches
PLAY
play alice "$bin/vauban" delete --service callers --owner program:/usr/local/games/bin/chat <"$TMPDIR/list-and-stop" >"$TMPDIR/shown"
check 'if several match none is deleted, and each is named' \
    eval '[ $? = 64 ] || equals "$(by alice /usr/local/games/bin/chat get d1) $(by alice /usr/local/games/bin/chat get d2)" "0 one 0 two" &&
        grep -q -- "--account d1" "$TMPDIR/shown" && grep -q -- "--account d2" "$TMPDIR/shown"'
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
check 'one item is deleted after two answers' eval 'play alice "$bin/vauban" delete callers/d2 --owner program:/usr/local/games/bin/chat <"$TMPDIR/delete" >"$TMPDIR/shown"'
check 'and no other item' equals "$(by alice /usr/local/games/bin/chat get d1) $(by alice /usr/local/games/bin/chat get d2)" '0 one -25300'
check 'nor is one if the account is not given' \
    eval 'play alice "$bin/vauban" delete --service callers --account "" --owner program:/usr/local/games/bin/chat <"$TMPDIR/list" >"$TMPDIR/shown"
        [ $? != 0 ] && equals "$(by alice /usr/local/games/bin/chat get d1)" "0 one"'

# Permissions that she gives.
cat >"$TMPDIR/allow" <<PLAY
expect to change which programs may read which secrets
expect asscode
secret alice passcode
expect Allowed
PLAY
check 'she permits a program to read an item of another' \
    eval 'play alice "$bin/vauban" allow /usr/local/games/bin/mail callers/a --owner program:/usr/local/games/bin/chat <"$TMPDIR/allow" >"$TMPDIR/shown"'
check 'the permission is listed' eval 'alice allow 2>/dev/null | grep -q "program:/usr/local/games/bin/mail"'
check 'in JSON too' eval 'alice allow --json 2>/dev/null >"$TMPDIR/all" && grep -q "\"kind\" : \"reads\"" "$TMPDIR/all" && grep -q "\"subject\" : \".*mail\"" "$TMPDIR/all"'
check 'without her passcode nothing is permitted' refused 36 alice allow "$own/other" callers/s --owner group.both
check 'she withdraws it' \
    eval 'alice disallow /usr/local/games/bin/mail callers/a --owner program:/usr/local/games/bin/chat 2>/dev/null &&
        alice allow >"$TMPDIR/allowed" 2>/dev/null && ! grep -q "program:/usr/local/games/bin/mail.*callers/a" "$TMPDIR/allowed"'

# A script is shown as its interpreter.
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
check 'the prompt showed that' approved
check 'the script does not prompt again' equals "$(as vauban-test-alice python3 "$own/script" "$bin/vauban" "$tool_owner")" 'of the tool'
check 'until the lock' \
    eval 'alice lock 2>/dev/null && with_passcode alice unlock 2>/dev/null &&
        equals "$(as vauban-test-alice python3 "$own/script" "$bin/vauban" "$tool_owner")" "" &&
        refused 36 as vauban-test-alice python3 -c \
        "import subprocess, sys; sys.exit(subprocess.run([\"$bin/vauban\", \"get\", \"callers/t\", \"--owner\", \"$tool_owner\"]).returncode)"'

# A folder in which new builds do not prompt.
check 'builds of a folder: not without her approval' refused 36 alice allow build "$own"
cat >"$TMPDIR/build" <<PLAY
expect new builds in
expect asscode
secret alice passcode
expect accepted
PLAY
check 'builds of a folder: with her passcode' eval 'play alice "$bin/vauban" allow build "$own" <"$TMPDIR/build" >"$TMPDIR/shown"'
check 'status calls it weak' eval 'alice status 2>/dev/null | grep -q "weak: any new build in $own"'
cp "$own/tool" "$own/tool.new" && printf 'third' >>"$own/tool.new" && chown vauban-test-alice "$own/tool.new" && mv "$own/tool.new" "$own/tool"
check 'a build there is accepted without a prompt' equals "$(by alice "$own/tool" get t)" '0 of the tool'

mkdir "$own/gone"; chown vauban-test-alice "$own/gone"
sed "s|accepted|are accepted|" "$TMPDIR/build" >"$TMPDIR/build-gone"
check 'a folder is permitted' eval 'play alice "$bin/vauban" allow build "$own/gone" <"$TMPDIR/build-gone" >"$TMPDIR/shown"'
rmdir "$own/gone"
check 'and withdrawn when it no longer exists' eval 'refused 0 alice disallow build "$own/gone" && ! alice allow 2>/dev/null | grep -q "$own/gone"'
check 'a folder that neither exists nor is permitted is a usage error' eval 'refused 64 alice disallow build "$own/gone"'
check 'a name in an error cannot write to the terminal' eval 'refused 64 alice disallow build "$(printf "/x\033[2J")" && ! grep -q "$(printf "\033")" "$TMPDIR/out"'

# Unsigned items: added without a prompt by a program without an identity, read with one, and moved to an owner.
loader=$(readelf -l "$bin/keychain-caller" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
unknown() { as vauban-test-alice "$loader" /usr/local/games/bin/mail "$@"; }
check 'a program that another one runs has no identity, and adds unsigned items' \
    eval 'equals "$(unknown add u "of nobody")" 0 && equals "$(by alice /usr/local/games/bin/mail get u)" -25300'
check 'it reads them only with consent' equals "$(unknown get u)" -25308
check 'with the owner named, the reply is the same for existing and missing items' \
    eval 'equals "$(unknown get a - TEAM.app)" -25308 && equals "$(unknown get nowhere - TEAM.app)" -25308 && equals "$(unknown get a)" -25300'
check 'it adds to no other group' equals "$(unknown add z x cli)" -34018
# What she restores from user mode is unsigned too: she finds it among the items of all owners, and gives it to its program.
cat >"$TMPDIR/all" <<PLAY
expect to see what every program keeps
expect asscode
secret alice passcode
expect unsigned
PLAY
check 'her list leaves them out, and that of all owners has them' \
    eval 'equals "$(unknown add v "of chat")" 0 && alice list >"$TMPDIR/listed" 2>/dev/null && ! grep -q callers/v "$TMPDIR/listed" &&
        play alice "$bin/vauban" list --all-owners <"$TMPDIR/all" >"$TMPDIR/shown" && grep -q callers/v "$TMPDIR/shown"'
cat >"$TMPDIR/to-chat" <<PLAY
expect to see what every program keeps
expect asscode
secret alice passcode
expect to give secrets to another owner
expect callers/v
expect asscode
secret alice passcode
PLAY
check 'she gives one to its program' \
    eval 'play alice "$bin/vauban" move callers/v --owner unsigned --to program:/usr/local/games/bin/chat \
        <"$TMPDIR/to-chat" >"$TMPDIR/shown" &&
        equals "$(by alice /usr/local/games/bin/chat get v)" "0 of chat"'
check 'nothing moves without her approval' refused 36 alice give cli
cat >"$TMPDIR/give" <<PLAY
expect to give secrets to another owner
expect asscode
secret alice passcode
expect 1 item given to cli
PLAY
check 'unsigned items become hers' eval 'play alice "$bin/vauban" give cli <"$TMPDIR/give" >"$TMPDIR/shown" && equals "$(alice get callers/u)" "of nobody"'
check 'and is not the program'"'"'s any more' equals "$(unknown get u)" -25300

# Moving or copying one item to another owner: with her consent, whichever program started `vauban`, and always visible to her.
check 'she adds an item to move' eval 'printf "to move" | as vauban-test-alice "$bin/vauban" add callers/moved 2>/dev/null'
mailbox=program:/usr/local/games/bin/chat
check 'nothing is put among a program'"'"'s own without her' \
    eval 'refused 36 alice move callers/moved --to $mailbox && refused 36 alice copy callers/moved --to $mailbox && equals "$(by alice /usr/local/games/bin/chat get moved)" -25300'
check 'nor moved out of it' \
    eval 'refused 36 alice copy callers/named --owner $mailbox --to cli && refused 36 alice move callers/named --owner $mailbox --to cli &&
        equals "$(by alice /usr/local/games/bin/chat get named)" "0 for both"'
cat >"$TMPDIR/move" <<PLAY
expect to give secrets to another owner
expect callers/moved
expect $mailbox
expect asscode
absent to move
secret alice passcode
PLAY
check 'with her consent it is the program'"'"'s' \
    eval 'play alice "$bin/vauban" move callers/moved --to $mailbox <"$TMPDIR/move" >"$TMPDIR/shown" &&
        equals "$(by alice /usr/local/games/bin/chat get moved)" "0 to move" && refused 44 alice show callers/moved'
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
check 'with her yes a program'"'"'s is hers' \
    eval 'play alice "$bin/vauban" move callers/named --owner $mailbox --to cli <"$TMPDIR/taken" >"$TMPDIR/shown" && equals "$(alice get callers/named)" "for both"'
check 'and the offers of the program have ended' \
    eval 'equals "$(by alice /usr/local/games/bin/chat get named)" -25300 && equals "$(by alice /usr/local/games/bin/mail get named)" -25300'

# Stored rows contain their group: keychaind does not return rows of groups that were not requested.
reads_again() { [ "$(by alice /usr/local/games/bin/mail get a)" = '0 of mail' ]; }
check 'after a restart of keychaind it is the same' \
    eval 'kill "$keychain_pid"; wait "$keychain_pid" 2>/dev/null; start_keychain
        eventually reads_again
        equals "$(by alice /usr/local/games/bin/chat get a)" "0 of chat" && equals "$(by alice "$own/other" get t)" -25300'
# An export contains her own items, and another user who imports it owns them.
printf 'a passphrase of its own\n' >"$TMPDIR/passphrase"
check 'she exports her items' \
    eval 'as vauban-test-alice "$bin/vauban" export - --passcode-fd 3 --passphrase-fd 4 3<"$TMPDIR/alice.passcode" 4<"$TMPDIR/passphrase" >"$TMPDIR/exported" \
        2>"$TMPDIR/err" </dev/null'
check 'a wrong passcode exports nothing' \
    eval '! as vauban-test-alice "$bin/vauban" export - --passcode-fd 3 --passphrase-fd 4 3<"$TMPDIR/bob.passcode" 4<"$TMPDIR/passphrase" >"$TMPDIR/none" \
        2>/dev/null </dev/null && [ ! -s "$TMPDIR/none" ]'
check 'bob imports the file' eval 'as vauban-test-bob "$bin/vauban" import - --passphrase-fd 4 4<"$TMPDIR/passphrase" <"$TMPDIR/exported" 2>"$TMPDIR/err"'
check 'with the items of her command line, as his own' eval 'equals "$(bob get notes/me)" "by hand" && bob show notes/me | grep -q "^Owner: *cli$"'
check 'and no items of her programs' eval '! bob list 2>/dev/null | grep -qE "callers/(t|a|s|d1)([^a-z0-9]|$)"'

check 'SECURITY.md says what a signature is replaced by' grep -qF "a program's own group comes from what the kernel says it executes" SECURITY.md
finish
