#!/usr/bin/env bash
# Attacks of hostile programs through the Secret Service. Each check is an attack of Manual/attacks.md. A sandbox is a control group, as
# flatpak and systemd create one; the client in it is a real one.
# limit: 1200
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/secret-service.sh
. Tests/Scripts/lib/attack-report.sh
groups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
app=$groups/app-flatpak-org.example.App-$$.scope other=$groups/app-flatpak-org.example.Other-$$.scope
# The programs of a Snap have a control group each, with the name of the Snap; the last part is random, after a dot or, in newer versions, a
# hyphen.
snap=$groups/snap.example-mail.mail.5a1c1f5e-$$.scope snap_helper=$groups/snap.example-mail.helper-0b6b1f5e-$$.scope
{ [ -n "$groups" ] && mkdir "$app" "$other" "$snap" "$snap_helper"; } 2>/dev/null || { echo 'no control groups can be made here'; exit 77; }
vauban enable secret-service --kwallet 2>/dev/null || fail 'the Secret Service was not enabled'
start_bus
finish_all() { finish; rmdir "$app" "$other" "$snap" "$snap_helper" 2>/dev/null; }
trap finish_all EXIT
set_passcode
# in_sandbox FOLDER COMMAND…: runs it in this control group.
in_sandbox() ( echo "$BASHPID" >"$1/cgroup.procs" && shift && exec "$@" )
sandboxed() { in_sandbox "$app" timeout 240 /usr/bin/python3 "$helper" "$@" 2>&1 | tail -n 1; }
matches_key() { [[ $1 =~ ^[0-9a-f]{128}$ ]] || { echo "    $1"; return 1; }; }
printf 'of the mail program' | secret-tool store --label='My mail' service mail username anna || fail 'nothing is stored'
printf 'of the bank' | secret-tool store --label='Bank' service bank username anna || fail 'nothing is stored'

check 'U50 a client uses the session of another: refused' equals "$(timeout 240 /usr/bin/python3 "$helper" foreign-session 2>&1 | tail -n 1)" refused
check 'U51 a Flatpak reads what another program stored, sees its label or lists it: refused' equals "$(sandboxed foreign-items)" refused
check 'U52 it changes, deletes or replaces it, or renames collections: refused' equals "$(sandboxed foreign-changes)" refused
check 'U52 control: the item is as it was' equals "$(timeout 240 /usr/bin/python3 "$helper" reads 'My mail' 2>&1 | tail -n 1)" 'of the mail program'
printf 'of the app' | in_sandbox "$app" secret-tool store --label=Own service app username anna || fail 'a Flatpak stores nothing'
check 'U51 control: it reads what it stored' equals "$(in_sandbox "$app" secret-tool lookup service app username anna)" 'of the app'
check 'U51 another Flatpak does not' equals "$(in_sandbox "$other" timeout 240 /usr/bin/python3 "$helper" finds-locked service app 2>&1 | tail -n 1)" locked
check 'U51 a Snap reads what another program stored, sees its label or lists it: refused' equals \
    "$(in_sandbox "$snap" timeout 240 /usr/bin/python3 "$helper" foreign-items 2>&1 | tail -n 1)" refused
printf 'of the snap' | in_sandbox "$snap" secret-tool store --label=Own service snap username anna || fail 'a Snap stores nothing'
check 'U51 control: another program of the Snap reads what it stored' equals "$(in_sandbox "$snap_helper" secret-tool lookup service snap username anna)" 'of the snap'
check 'U51 a Flatpak does not' equals "$(in_sandbox "$app" timeout 240 /usr/bin/python3 "$helper" finds-locked service snap 2>&1 | tail -n 1)" locked
# listens COMMAND...: runs it while a client listens to the service, and prints whether the client was notified of an item or a wallet.
listens() {
    rm -f "$TMPDIR/listens"; mkfifo "$TMPDIR/listens"
    "$@" timeout 240 /usr/bin/python3 "$helper" listens >"$TMPDIR/listens" 2>"$TMPDIR/told" & listener=$!
    exec 5<"$TMPDIR/listens"
    read -r -t "$hang_seconds" said <&5; [ "$said" = listening ] || { cat "$TMPDIR/told"; fail 'the client does not listen'; }
    timeout 240 /usr/bin/python3 "$helper" tells || fail 'the client was not notified'
    busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.kde.kwalletd6 /modules/kwalletd6 org.kde.KWallet open sxs 'secret plans' 0 'an application' \
        >/dev/null || fail 'no wallet is opened'
    timeout 240 /usr/bin/python3 "$helper" mark || fail 'nothing is marked'
    read -r -t "$hang_seconds" said <&5; exec 5<&-; wait "$listener"
    echo "$said"
}
check 'U150 a Flatpak listens to what the service tells of other programs'"'"' items and wallets: nothing' equals "$(listens in_sandbox "$app")" nothing || cat "$TMPDIR/told"
check 'U150 control: a program outside of sandboxes is told' equals "$(listens env)" told
check 'U52 it makes collections without end: refused' equals "$(sandboxed many-collections)" 128
check 'U52 control: a program outside of sandboxes makes one more' equals "$(timeout 240 /usr/bin/python3 "$helper" deletes-collections 2>&1 | tail -n 1)" made
# An item that is stored before another program stores its own under the same name, and one in place of an item that was not stored yet.
printf 'planted' | in_sandbox "$app" secret-tool store --label=Trap service trap username anna || fail 'a Flatpak stores nothing'
check 'U151 control: a Flatpak reads what it stored' equals "$(in_sandbox "$app" secret-tool lookup service trap username anna)" planted
printf 'of the user' | secret-tool store --label=Trap service trap username anna || fail 'nothing is stored'
check 'U151 a Flatpak stores an item with attributes of another program, and reads what that stores in its place: refused' equals "$(sandboxed finds-locked service trap)" locked
check 'U151 control: the program reads it, and there is one item' \
    eval '[ "$(secret-tool search --all service trap 2>/dev/null | grep -c "^secret = of the user$")" = 1 ] &&
        [ "$(secret-tool search --all service trap 2>/dev/null | grep -c "^secret = ")" = 1 ]'
unknown_trap() {
    rm -f "$TMPDIR/traps" "$TMPDIR/springs"; mkfifo "$TMPDIR/traps" "$TMPDIR/springs"
    timeout 240 /usr/bin/python3 "$helper" trap <"$TMPDIR/springs" >"$TMPDIR/traps" 2>"$TMPDIR/told" & trapper=$!
    exec 6>"$TMPDIR/springs" 5<"$TMPDIR/traps"
    read -r -t "$hang_seconds" said <&5; [ "$said" = stored ] || { cat "$TMPDIR/told"; return 1; }
    printf 'of the user' | secret-tool store --label=Trap service 'trap of an unknown' || return 1
    echo >&6
    read -r -t "$hang_seconds" said <&5; exec 5<&- 6>&-; wait "$trapper"
    equals "$said" refused || cat "$TMPDIR/told"
}
check 'U151 the same by an app that cannot be named: refused' unknown_trap
# An item of a Flatpak belongs to another program as soon as that changes the secret or the attributes, also in memory.
for collection in login session; do
    for part in secret attributes; do
        in_sandbox "$app" timeout 240 /usr/bin/python3 "$helper" plants $collection "$collection $part" || fail 'a Flatpak stores nothing'
        check "U151 control: a Flatpak reads what it stored in $collection" equals "$(sandboxed looks-up "$collection $part")" planted
        timeout 240 /usr/bin/python3 "$helper" sets $part "$collection $part" || fail "the $part are not changed"
        check "U151 it reads an item whose $part another program changed, in $collection: refused" equals "$(sandboxed looks-up "$collection $part")" locked
    done
done
check 'U151 control: the program reads it' equals "$(timeout 240 /usr/bin/python3 "$helper" looks-up 'login secret' 2>&1 | tail -n 1)" 'of the user'
# raced COLLECTION: adds items from a sandbox, and replaces them from outside while the app reads and writes them; prints the output of both.
raced() {
    rm -f "$TMPDIR/races" "$TMPDIR/replaces"; mkfifo "$TMPDIR/races" "$TMPDIR/replaces"
    in_sandbox "$app" timeout 240 /usr/bin/python3 "$helper" races "$1" 30 <"$TMPDIR/replaces" >"$TMPDIR/races" 2>"$TMPDIR/told" & racer=$!
    timeout 240 /usr/bin/python3 "$helper" replaces "$1" 2>"$TMPDIR/verdict" >"$TMPDIR/replaces" <"$TMPDIR/races"
    wait "$racer" || cat "$TMPDIR/told"
    tail -n 1 "$TMPDIR/verdict"
}
for collection in login session; do
    check "U180 a Flatpak reads and writes its item over eight connections while another program replaces it, in $collection: refused" equals "$(raced $collection)" refused
done
printf 'planted' | in_sandbox "$app" secret-tool store --label=Early service early || fail 'a Flatpak stores nothing'
check 'U152 a Flatpak stores an item with attributes of another program, which reads it where it has none yet: succeeds' equals "$(secret-tool lookup service early)" planted
timeout 240 /usr/bin/python3 "$helper" stores-beside service early 'of the user' || fail 'nothing is stored'
check 'U152 control: where it has one, it reads its own' equals "$(secret-tool lookup service early)" 'of the user'
check 'U153 a Flatpak locks the keychain, to have the user enter the passcode again: refused' equals "$(sandboxed no-lock)" refused
locked_outside() { timeout 240 /usr/bin/python3 "$helper" lock && vauban status | grep -q '^State *locked' && unlock; }
check 'U153 control: a program outside of sandboxes locks it' locked_outside
# Items that other programs delete meanwhile are left out of the search of a Flatpak, which the service examines again for each.
in_sandbox "$app" timeout 240 /usr/bin/python3 "$helper" searches >"$TMPDIR/searched" 2>&1 & searcher=$!
timeout 240 /usr/bin/python3 "$helper" churns || fail 'items are not stored and deleted'
wait "$searcher"
check 'a search by a Flatpak continues while others delete what it finds' equals "$(tail -n 1 "$TMPDIR/searched")" found || cat "$TMPDIR/searched"
check 'U183 a Flatpak sends calls of any size, to fill the memory of the service: refused' equals "$(sandboxed large-calls)" refused
check 'U183 control: the largest secret is stored by a program outside of sandboxes too' equals "$(timeout 240 /usr/bin/python3 "$helper" large-calls 2>&1 | tail -n 1)" refused
# Three sandboxed apps use as many prompts as they get, while the keychain is locked. The last one gets none, and programs outside get theirs.
held_prompts() {
    holders=() held=() counts=''
    for sandbox in "$app" "$other" "$snap"; do
        rm -f "$TMPDIR/holds" "$TMPDIR/said"; mkfifo "$TMPDIR/holds" "$TMPDIR/said"
        in_sandbox "$sandbox" timeout 240 /usr/bin/python3 "$helper" holds-prompts <"$TMPDIR/holds" >"$TMPDIR/said" 2>"$TMPDIR/told" & holders+=($!)
        exec {hold}>"$TMPDIR/holds"; held+=("$hold")
        read -r -t "$hang_seconds" said <"$TMPDIR/said" || cat "$TMPDIR/told"
        counts="$counts $said"
    done
}
timeout 240 /usr/bin/python3 "$helper" lock || fail 'the keychain cannot be locked'
held_prompts
check 'U184 Flatpaks and Snaps ask for prompts without end, so that nobody else gets one: refused' equals "$counts" ' 16 16 0'
check 'U184 control: a program outside of sandboxes gets one' timeout 240 /usr/bin/python3 "$helper" prompt-dismissed
for hold in "${held[@]}"; do exec {hold}>&-; done
wait "${holders[@]}"
unlock
check 'U54 it asks the portal'"'"'s backend for the key of another app: refused' equals "$(sandboxed foreign-key)" refused
check 'U54 control: the portal is given it' matches_key "$(timeout 240 /usr/bin/python3 "$helper" backend-key org.example.Other 2>&1 | tail -n 1)"

# KWallet's interface of the same process.
wallet_helper=$PWD/Tests/Scripts/lib/kwallet.py
wallet() { timeout 240 /usr/bin/python3 "$wallet_helper" "$@" 2>&1 | tail -n 1; }
wallet stored
check 'U55 a client uses the open wallet of another: refused' equals "$(wallet foreign-handle)" refused
check 'U56 a Flatpak reads, lists, changes or removes an entry that another program stored: refused' equals \
    "$(in_sandbox "$app" timeout 240 /usr/bin/python3 "$wallet_helper" foreign-entry 2>&1 | tail -n 1)" refused
check 'U56 control: a program outside of sandboxes reads it as it was' equals "$(wallet reads)" 'of the browser'
in_sandbox "$app" timeout 240 /usr/bin/python3 "$wallet_helper" trap || fail 'a Flatpak writes no entry'
wallet writes Traps entry 'of the user'
check 'U151 an entry of a wallet: refused' equals "$(in_sandbox "$app" timeout 240 /usr/bin/python3 "$wallet_helper" trapped 2>&1 | tail -n 1)" refused
check 'U181 a Flatpak makes a collection with the label of KDE'"'"'s default wallet, or of one in use, so that programs take it: refused' \
    equals "$(sandboxed wallet-labels)" refused
check 'U181 control: KDE'"'"'s programs find their entries' equals "$(wallet reads)" 'of the browser'
check 'U53 a program outside of sandboxes reads everything: succeeds' equals "$(secret-tool lookup service app username anna)" 'of the app'

# The user consents once; the consent holds for this app and this item until the item changes.
cat >"$TMPDIR/client" <<CLIENT
#!/bin/bash
( echo \$BASHPID >"$app/cgroup.procs" && exec secret-tool lookup "\$@" ) >"$TMPDIR/found" 2>&1 </dev/null &
echo \$! >"$TMPDIR/client.pid"
CLIENT
printf '#!/bin/sh\ntail -s 0.02 --pid="$(cat "%s/client.pid")" -f /dev/null\n' "$TMPDIR" >"$TMPDIR/wait"
chmod +x "$TMPDIR/client" "$TMPDIR/wait"
consented() {
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/client service mail username anna
expect to let the Flatpak org.example.App use, from now on, what other programs stored: My mail
expect Passcode
key ctrl-c
expect Cancelled
run $TMPDIR/wait
run [ -z "\$(cat $TMPDIR/found)" ]
run $TMPDIR/client service mail username anna
expect to let the Flatpak org.example.App use
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = 'of the mail program' ]
key ctrl-c
STEPS
    [ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found"; return 1; }
}
cat >"$TMPDIR/wallet" <<CLIENT
#!/bin/bash
( echo \$BASHPID >"$app/cgroup.procs" && exec /usr/bin/python3 "$wallet_helper" reads ) >"$TMPDIR/found" 2>&1 </dev/null &
echo \$! >"$TMPDIR/client.pid"
CLIENT
chmod +x "$TMPDIR/wallet"
consented_to_entry() {
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/wallet
expect to let the Flatpak org.example.App use, from now on, what other programs stored: Browser Keys/Safe Storage
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = 'of the browser' ]
key ctrl-c
STEPS
    [ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found"; return 1; }
}
check 'U56 control: the user consents to an entry' consented_to_entry
check 'U51 control: the user refuses, then consents' consented
check 'U51 control: it is asked for once' equals "$(in_sandbox "$app" secret-tool lookup service mail username anna)" 'of the mail program'
check 'U51 the consent is for one item' equals "$(sandboxed finds-locked service bank)" locked
check 'U51 the consent is for one app' equals "$(in_sandbox "$other" timeout 240 /usr/bin/python3 "$helper" finds-locked service mail 2>&1 | tail -n 1)" locked
# One request for many items: a prompt names only the first ones, and only those are opened. Consent to an item in memory exists already.
timeout 240 /usr/bin/python3 "$helper" stores-many || fail 'nothing is stored'
cat >"$TMPDIR/unlocks" <<CLIENT
#!/bin/bash
( echo \$BASHPID >"$app/cgroup.procs" && exec /usr/bin/python3 "$helper" unlocks "\$@" ) >"$TMPDIR/found" 2>&1 </dev/null &
echo \$! >"$TMPDIR/client.pid"
CLIENT
chmod +x "$TMPDIR/unlocks"
permissions() { vauban list | grep -c secret-service-permission; }
before=$(permissions)
consented_to_many() {
    play "$VAUBAN_BUILD/vauban" approve >"$TMPDIR/out" <<STEPS
expect Prompts appear here
run $TMPDIR/unlocks many
expect to let the Flatpak org.example.App use, from now on, what other programs stored: Many 1, Many 2, Many 3, Many 4
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = '4 2' ]
run $TMPDIR/unlocks memory
expect what other programs stored: In memory
expect Passcode
secret $passcode
expect Accepted
run $TMPDIR/wait
run [ "\$(cat $TMPDIR/found)" = '1 0' ]
key ctrl-c
STEPS
    [ $? = 130 ] || { cat "$TMPDIR/out" "$TMPDIR/found"; return 1; }
}
check 'U182 a Flatpak asks for many items at once, to have others than the prompt names: four, which it names' consented_to_many
check 'U182 control: four permissions are kept, and nothing of the item in memory' equals "$(permissions)" $((before + 4))
check 'U51 control: it reads the item in memory' equals "$(sandboxed looks-up memory)" 'in memory'
timeout 240 /usr/bin/python3 "$helper" deletes-many || fail 'a collection cannot be deleted'
check 'U51 a consent ends when the item'"'"'s collection is deleted' equals "$(permissions)" "$before"
timeout 240 /usr/bin/python3 "$helper" rename service mail || fail 'the item cannot be renamed'
check 'U51 a consent ends when the item is given other attributes' equals "$(sandboxed finds-locked service renamed)" locked

printf 'planted' | in_sandbox "$app" secret-tool store --label=Planted server 'Browser Keys' user 'Safe Storage' type plaintext || fail 'a Flatpak stores nothing'
check 'U152 control: beside an entry of a wallet, which is read as it was' equals "$(wallet reads)" 'of the browser'

vauban disable secret-service 2>/dev/null && vauban enable secret-service --share 2>/dev/null || fail 'the service cannot be enabled with --share'
busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig || fail 'the bus does not read its services'
kill_service
check 'U51 control: with --share it reads everything' equals "$(in_sandbox "$app" secret-tool lookup service bank username anna)" 'of the bank'
vauban disable secret-service 2>/dev/null || fail 'the Secret Service was not disabled'
[ -z "$(find "$XDG_CONFIG_HOME" "$XDG_DATA_HOME" -type f 2>/dev/null)" ] || fail 'a file was not removed'

# A program outside of sandboxes takes KWallet's name, and sends an import other values for existing items.
kill_service
busctl --address="$DBUS_SESSION_BUS_ADDRESS" call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig || fail 'the bus does not read its services'
# import_given TEXT: imports from a KWallet whose passwords are TEXT, and ends as the import does.
import_given() {
    rm -f "$TMPDIR/said"; mkfifo "$TMPDIR/said"
    timeout 240 /usr/bin/python3 Tests/Scripts/lib/other-wallet.py gives "$1" >"$TMPDIR/said" & played=$!
    exec 7<"$TMPDIR/said"
    read -r -t "$hang_seconds" said <&7; [ "$said" = playing ] || fail 'no KWallet is played'
    vauban import --from kwallet >"$TMPDIR/out" 2>"$TMPDIR/err"; ended=$?
    { kill "$played"; wait "$played"; } 2>/dev/null
    exec 7<&-
    return $ended
}
import_given 'of anna' || { cat "$TMPDIR/err"; fail 'nothing is imported'; }
check 'U113 control: what a KWallet gives is imported' equals "$(vauban get Mail/bob)" 'of anna'
check 'U113 a program takes its name, and replaces entries by an import: refused' \
    eval 'import_given stolen; equals $? 1 && equals "$(vauban get Mail/bob)" "of anna" && grep -q "it already exists with another password" "$TMPDIR/out"'

# A provider whose prompt the user refuses, while another program reports that it was accepted.
rm -f "$TMPDIR/said"; mkfifo "$TMPDIR/said"
timeout 240 /usr/bin/python3 Tests/Scripts/lib/other-provider.py forged >"$TMPDIR/said" 2>"$TMPDIR/told" & played=$!
exec 7<"$TMPDIR/said"
read -r -t "$hang_seconds" said <&7; [ "$said" = playing ] || { cat "$TMPDIR/told"; fail 'no provider is played'; }
vauban import --from secret-service >"$TMPDIR/out" 2>"$TMPDIR/err"; ended=$?
cat <&7 >"$TMPDIR/asked" & reader=$!
{ kill "$played"; wait "$played" "$reader"; } 2>/dev/null
exec 7<&-
check 'U154 a program says to an import that a prompt of the provider was answered: not believed' \
    eval 'equals $ended 1 && grep -qx forged "$TMPDIR/asked" && grep -q "it is locked; unlock it in python3" "$TMPDIR/out"'
check 'U154 control: what is open is imported' equals "$(vauban get asking)" asked
end_attacks
echo 'clients of the Secret Service reach what is theirs'
