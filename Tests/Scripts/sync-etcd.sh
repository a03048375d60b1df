#!/usr/bin/env bash
# Synchronizable items travel through an etcd of three nodes with TLS and access by roles: added on two devices, long ones too; with a node
# killed, with all killed and started again, compacted, and gone. Other users do not get in, and what answers in etcd's place is refused.
# proves: C-215 C-217
# limit: 900
set -u
# An account that others can change is refused.
umask 022
for tool in etcd etcdctl openssl curl python3; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/free-ports.sh
for program in keychain-caller vauban-sync-etcd; do [ -x "$VAUBAN_BUILD/$program" ] || { echo "$program is not built"; exit 77; }; done
fleet=$TMPDIR/fleet
device() { export VAUBAN_HOME=$TMPDIR/$1; }
text() { expect_text "$1" "$TMPDIR/err"; }
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
with() { want=$1; shift; expect_status "$want" setsid --wait "$VAUBAN_BUILD/vauban" "$@" --passcode-fd 3 3<<<"$passcode" </dev/null; }
sync() { device "$1"; own "${2:-0}" sync; }
equals() { [ "$1" = "$2" ] || fail "there is \"$1\", not \"$2\""; }
fleet_starts() { Install/etcd/start "$fleet" >"$TMPDIR/start" 2>&1 || { cat "$TMPDIR/start" "$fleet"/node-*.log; fail 'etcd does not start'; }; }
etcdctl_root() { in_fleet administer "$@"; }
node_pids() { cat "$fleet"/node-*.pid; }
# ended PID…: until a killed process is really gone, and its port free. One that nobody has waited for has a number still.
ended() {
    for pid; do
        for ((second = 0; second < hang_seconds; second++)); do
            # The first thread of a killed process can be a zombie while others still hold its sockets.
            [ -e "/proc/$pid" ] && ! { grep -q '^State:.*Z' "/proc/$pid/status" && [ "$(ls "/proc/$pid/task")" = "$pid" ]; } 2>/dev/null || continue 2
            timeout 1 tail --pid="$pid" -f /dev/null
        done
        fail "process $pid does not end"
    done
}
# stub [CERTIFICATE KEY]: a hostile server in etcd's place; its port is $stub_port, and it says on descriptor $stub_says what it accepts.
stubs=()
stub() {
    exec {stub_says}< <(exec python3 Tests/Scripts/lib/hostile-etcd.py "$TMPDIR/stub" "$@" 2>/dev/null)
    stubs+=($!)
    read -r -t "$hang_seconds" -u "$stub_says" stub_port || fail 'the stub does not start'
}
accepted() { read -r -t "$hang_seconds" -u "$stub_says" line && [ "$line" = accepted ] || fail 'nobody connects to the stub'; }
trap 'for home in "$TMPDIR"/keychain "$TMPDIR"/laptop "$TMPDIR"/ci "$TMPDIR"/new; do VAUBAN_HOME=$home vauban stop; done >/dev/null 2>&1; kill -CONT $(node_pids) 2>/dev/null; Install/etcd/stop "$fleet" 2>/dev/null; [ ${#stubs[@]} = 0 ] || kill "${stubs[@]}"' EXIT

free_ports
fleet_starts
anna=$(Install/etcd/add-user "$fleet" anna) && bert=$(Install/etcd/add-user "$fleet" bert) || fail 'no user can be added'
equals "$(stat -c %a "$anna" "$anna/key.pem" "$anna/password" | paste -sd' ')" '700 600 600'
# All of it may be repeated, also from the middle of the first start: roles and the administrator are there, and authentication is off.
equals "$(Install/etcd/add-user "$fleet" anna)" "$anna"
etcdctl_root auth disable >/dev/null || fail 'authentication cannot be turned off'
fleet_starts
(cd "$fleet" && ETCDCTL_API=3 etcdctl --endpoints "https://127.0.0.1:$PORT" --cacert ca.pem --cert node-1.pem --key node-1.key get x) >/dev/null 2>&1 &&
    fail 'etcd lets in who has a certificate and no password'
for name in -anna Anna root "$(printf 'a%.0s' {1..65})"; do Install/etcd/add-user "$fleet" "$name" 2>/dev/null && fail "there is a user $name"; done
# What nodes say to each other has an authority of its own.
peers() { curl -sS --http1.1 --max-time "$hang_seconds" --cacert "$fleet/peers.pem" "https://127.0.0.1:$((PORT + 1))/members" "$@" 2>"$TMPDIR/err"; }
peers --cert "$fleet/peer-2.pem" --key "$fleet/peer-2.key" | grep -q node-3 || fail 'a peer is not let in'
peers --cert "$anna/certificate.pem" --key "$anna/key.pem" && fail 'a user gets in as a peer'
timeout "$hang_seconds" tail -n +1 -F "$fleet/node-1.log" 2>/dev/null | grep -qF -m1 'signed by unknown authority' || fail 'it was not the certificate that kept a user out'

# A circle, and a second device that joins it: nothing but the place is another than with a folder.
set_passcode
own 64 sync new "etcd:$TMPDIR/nowhere"; text 'is not a folder'
own 0 sync new "etcd:$anna" --name desk
own 64 sync new "etcd:$anna"
printf '{"service":"s","account":"first","secret":"of the desk","synchronizable":true}' | vauban add --json - 2>/dev/null || fail 'add --json failed'
sync keychain; text '1 sent.'
own 0 sync status
expect_text "Folder   etcd:$anna (anna at https://127.0.0.1:$PORT, " "$TMPDIR/out"
device laptop; new_keychain; set_passcode
own 64 sync new "etcd:$anna"; text 'is not empty'
own 64 sync join "etcd:$bert"; text 'has no circle'
own 0 sync join "etcd:$anna" --name laptop
device keychain; own 0 sync approve
device laptop; own 0 sync join "etcd:$anna"; code=$(cat "$TMPDIR/out")
device keychain; with 0 sync approve "$code"; answer=$(cat "$TMPDIR/out")
device laptop; with 0 sync join "etcd:$anna" "$answer"; text '1 change received'
equals "$(vauban get s/first)" 'of the desk'
printf 'of the laptop' | vauban set s/first --replace; sync laptop; sync keychain
equals "$(vauban get s/first)" 'of the laptop'
left=$(etcdctl_root get --prefix --keys-only /vauban/1/anna/files/join/) || fail 'etcd does not say what is there'
equals "$left" ''
# The files are found in what etcd has on disk, and what is in them is not.
[ -d "$fleet/data-1/member" ] || fail 'etcd keeps its files elsewhere'
grep -raqF 'VAUBAN SYNC 1' "$fleet"/data-* || fail 'the files are not in etcd'
grep -raqE 'of the desk|of the laptop' "$fleet"/data-*; equals $? 1

# The leader is killed: the others go on, and it comes back. While they choose one, none says that it is, or two do.
has_leader() {
    leader=$(etcdctl_root endpoint status -w json 2>/dev/null | python3 -c '
import json, sys
[leader] = [row["Endpoint"] for row in json.load(sys.stdin) if row["Status"]["leader"] == row["Status"]["header"]["member_id"]]
print(leader)' 2>/dev/null)
}
awaited 'one leader of the nodes' has_leader
node=$(grep -n -F "$leader" "$fleet/endpoints" | cut -d: -f1)
pid=$(cat "$fleet/node-$node.pid"); kill -9 "$pid"; ended "$pid"
device keychain; printf 'with two nodes' | vauban set s/first --replace; sync keychain; text '1 sent.'
sync laptop; equals "$(vauban get s/first)" 'with two nodes'
fleet_starts

# All are killed: a clear error, and the change waits.
pids=$(node_pids); kill -9 $pids; ended $pids
device keychain; printf 'while all are gone' | vauban set s/first --replace
before=$SECONDS
own 53 sync; text "https://127.0.0.1:$PORT is not reached"; text 'try again later'
# Within the time for one operation; each of its requests has 30 seconds of it, and a loaded machine halts for some more.
[ $((SECONDS - before)) -lt 120 ] || fail "it took $((SECONDS - before)) seconds"
sync laptop 53
fleet_starts
sync keychain; text '1 sent.'; sync laptop; equals "$(vauban get s/first)" 'while all are gone'

# All are stopped, and answer nothing: the same, in time.
kill -STOP $(node_pids); before=$SECONDS
own 53 sync; text 'does not answer in time'
[ $((SECONDS - before)) -lt 120 ] || fail "it took $((SECONDS - before)) seconds"
kill -CONT $(node_pids)
# They choose a leader again.
fleet_starts
sync laptop

# A file that is longer than a request to etcd may be: in parts, which nobody sees as files.
device keychain
long=$(head -c 450000 /dev/urandom | od -An -vtx1 | tr -d ' \n')
for name in long-1 long-2; do
    printf '{"service":"s","account":"%s","secret":"%s","synchronizable":true}' $name "$long" >"$TMPDIR/item"
    vauban add --json "$TMPDIR/item" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'a long item is not added'; }
done
sync keychain; text '2 sent.'
keys=$(etcdctl_root get --prefix --keys-only /vauban/1/anna/parts/) || fail 'etcd does not say what is there'
parts=$(grep -c /parts/ <<<"$keys")
[ "$parts" -ge 4 ] || fail "there are $parts parts"
sync laptop; text '2 changes received'
[ "$(vauban get s/long-2)" = "$long" ] || fail 'a long item is another'

# A statement that no device made: the message says who can remove it.
circle=/vauban/1/anna/files/circle
etcdctl_root get $circle/00000001 -w json | python3 -c 'import base64, json, sys
sys.stdout.buffer.write(base64.b64decode(json.load(sys.stdin)["kvs"][0]["value"]))' >"$TMPDIR/statement"
input=$TMPDIR/statement etcdctl_root put $circle/00000003 >/dev/null || fail 'the operator cannot write'
sync keychain 64; text "ask the operator of etcd to delete $circle/00000003"
etcdctl_root del $circle/00000003 >/dev/null || fail 'the operator cannot delete'
sync keychain

# Compacted and defragmented: nobody notices.
revision=$(etcdctl_root get x -w json | python3 -c 'import json, sys; print(json.load(sys.stdin)["header"]["revision"])')
in_fleet administer_unless 'has been compacted' compact "$revision" >/dev/null && etcdctl_root defrag >/dev/null || fail 'etcd is not compacted'
device laptop; printf 'after compaction' | vauban set s/first --replace; sync laptop; sync keychain
equals "$(vauban get s/first)" 'after compaction'

# Another user gets neither in, nor at the keys of the first.
mkdir "$TMPDIR/thief"; cp "$bert"/* "$TMPDIR/thief"; sed -i 's/^user bert/user anna/' "$TMPDIR/thief/account"
own 51 sync --folder "etcd:$TMPDIR/thief"; text 'refuses the user or the password'
call() { curl -sS --max-time "$hang_seconds" --cacert "$bert/ca.pem" --cert "$bert/certificate.pem" --key "$bert/key.pem" "https://127.0.0.1:$PORT/v3/$1" "${@:2}"; }
token=$(call auth/authenticate -d "{\"name\":\"bert\",\"password\":\"$(cat "$bert/password")\"}" | python3 -c 'import json, sys; print(json.load(sys.stdin)["token"])')
key() { printf '/vauban/1/%s/files/circle/00000001' "$1" | base64 -w0; }
call kv/range -H "Authorization: $token" -d "{\"key\":\"$(key anna)\"}" | grep -q 'permission denied' || fail 'another user reads'
call kv/put -H "Authorization: $token" -d "{\"key\":\"$(key anna)\",\"value\":\"AA==\"}" | grep -q 'permission denied' || fail 'another user writes'
call kv/range -d "{\"key\":\"$(key anna)\"}" | grep -q 'user name is empty' || fail 'a certificate alone reads'
call kv/put -H "Authorization: $token" -d "{\"key\":\"$(key bert)\",\"value\":\"AA==\"}" | grep -q revision || fail 'a user cannot write below the own prefix'
curl -sS --cacert "$bert/ca.pem" "https://127.0.0.1:$PORT/v3/kv/range" -d '{}' >/dev/null 2>&1 && fail 'etcd lets in who has no certificate'
# A foreign authority, on either side.
(cd "$TMPDIR/thief" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=thief -keyout key.pem -out certificate.pem) 2>/dev/null
chmod 600 "$TMPDIR/thief/key.pem"
reached 51 sync --folder "etcd:$TMPDIR/thief"; text "https://127.0.0.1:$PORT refuses certificate.pem of the account"
cp "$anna"/* "$TMPDIR/thief"; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=thief -keyout "$TMPDIR/x" -out "$TMPDIR/thief/ca.pem" 2>/dev/null
reached 64 sync --folder "etcd:$TMPDIR/thief"; text 'that ca.pem of the account did not issue'

# What an account must be.
cp "$anna"/* "$TMPDIR/thief"; chmod 644 "$TMPDIR/thief/key.pem"
own 64 sync --folder "etcd:$TMPDIR/thief"; text "chmod 600 '$TMPDIR/thief/key.pem'"
chmod 600 "$TMPDIR/thief/key.pem"; chmod 640 "$TMPDIR/thief/password"
own 64 sync --folder "etcd:$TMPDIR/thief"; text "chmod 600 '$TMPDIR/thief/password'"
chmod 600 "$TMPDIR/thief/password"; chmod 664 "$TMPDIR/thief/account"
own 64 sync --folder "etcd:$TMPDIR/thief"; text "chmod go-w '$TMPDIR/thief/account'"
chmod 644 "$TMPDIR/thief/account"; chmod 777 "$TMPDIR/thief"
own 64 sync --folder "etcd:$TMPDIR/thief"; text "chmod go-w '$TMPDIR/thief'"
chmod 755 "$TMPDIR/thief"
if [ "$(id -u)" = 0 ]; then
    chown 12345 "$TMPDIR/thief/ca.pem"; own 64 sync --folder "etcd:$TMPDIR/thief"; text 'thief/ca.pem belongs to another user'
    chown 0 "$TMPDIR/thief/ca.pem"
fi
# Without a password, an etcd that lets everybody in would not be noticed; with one, it is.
mv "$TMPDIR/thief/password" "$TMPDIR/kept"; own 64 sync --folder "etcd:$TMPDIR/thief"; text 'thief/password is missing'
mv "$TMPDIR/kept" "$TMPDIR/thief/password"
etcdctl_root auth disable >/dev/null || fail 'authentication cannot be turned off'
own 51 sync --folder "etcd:$TMPDIR/thief"; text 'accepts anyone'
fleet_starts
printf 'user anna\nendpoint http://127.0.0.1:1\n' >"$TMPDIR/thief/account"
own 64 sync --folder "etcd:$TMPDIR/thief"; text 'would be sent without encryption'
printf 'user anna\nendpoint http://192.0.2.1:2379\n' >"$TMPDIR/thief/account"
own 64 sync --folder "etcd:$TMPDIR/thief"; text 'is not encrypted'
rm "$TMPDIR/thief/account"; own 64 sync --folder "etcd:$TMPDIR/thief"; text 'thief/account cannot be opened'
# None of these places is remembered, and one that moved is.
sync keychain
cp -a "$anna" "$TMPDIR/moved"; own 0 sync --folder "etcd:$TMPDIR/moved"
own 0 sync status; expect_text "Folder   etcd:$TMPDIR/moved (anna" "$TMPDIR/out"
# A renewed account is used at once, and what was stolen of the earlier one is not.
cp -a "$anna" "$TMPDIR/stolen"; Install/etcd/add-user --renew "$fleet" anna >/dev/null || fail 'an account cannot be renewed'
own 51 sync --folder "etcd:$TMPDIR/stolen"; text 'refuses the user or the password'
own 0 sync --folder "etcd:$anna"

# Who answers in etcd's place: each time a refusal that names the endpoint, in time, and what is remembered stays.
mkdir "$TMPDIR/stub"; echo silent >"$TMPDIR/stub/mode"
stub
endpoint=http://127.0.0.1:$stub_port
printf 'user anna\nendpoint %s\n' "$endpoint" >"$TMPDIR/stub/account"
hostile() {
    echo "$1" >"$TMPDIR/stub/mode"; before=$SECONDS
    own "$2" sync --folder "etcd:$TMPDIR/stub"; text "$3"
    ! grep -q "$(printf '\033')" "$TMPDIR/err" || fail 'the terminal gets what the server sent'
    [ $((SECONDS - before)) -lt 120 ] || fail "$1 took $((SECONDS - before)) seconds"
}
# While it waits for an answer, the program with the network is confined.
"$VAUBAN_BUILD/vauban" sync --folder "etcd:$TMPDIR/stub" >/dev/null 2>&1 </dev/null & waiting=$!
accepted
pid=$(pgrep -P $waiting -f "vauban-sync-etcd $TMPDIR/stub") || fail 'the program with the network does not run'
grep -q '^Seccomp:.*2' "/proc/$pid/status" || fail 'it is not confined'
grep -q '^NoNewPrivs:.*1' "/proc/$pid/status" || fail 'it may gain privileges'
# It has nothing of the command line but the socket, and ends with it. Only root can look.
if [ "$(id -u)" = 0 ]; then
    for stream in 0 1 2; do equals "$(readlink "/proc/$pid/fd/$stream")" /dev/null; done
    equals "$(tr '\0' '\n' <"/proc/$pid/environ" | sed 's/=.*//' | sort | paste -sd' ')" 'LISTEN_FDNAMES LISTEN_FDS LISTEN_PID'
fi
# Stopped, it can end only with the command line.
kill -STOP "$pid"; kill -9 $waiting; ended "$pid"
hostile silent 53 "$endpoint does not answer in time"
hostile drips 53 "$endpoint does not answer in time"
hostile long 53 "$endpoint"
hostile closes 53 "$endpoint is not reached"
hostile words 53 "$endpoint"
hostile endless 53 "$endpoint answers more than etcd does"
for mode in page garbage deep redirects other; do hostile $mode 53 "$endpoint does not answer as etcd does"; done
hostile error 53 "$endpoint refuses ("
hostile file 64 'The folder lacks circle/'
sync keychain

# The same over TLS: a node that answers with nonsense is followed by the next, and one with another's name is not believed.
for name in 127.0.0.1 192.0.2.7; do
    in_fleet certify "stub-$name" ca "/O=Vauban sync/OU=stub $name" serverAuth "IP:$name" || fail 'no certificate for the stub'
done
rm -rf "$TMPDIR/mixed"; cp -a "$anna" "$TMPDIR/mixed"
for mode in nonsense garbage other; do
    echo $mode >"$TMPDIR/stub/mode"; stub "$fleet/stub-127.0.0.1.pem" "$fleet/stub-127.0.0.1.key"
    printf 'user anna\nendpoint https://127.0.0.1:%s\nendpoint https://127.0.0.1:%s\n' "$stub_port" "$PORT" >"$TMPDIR/mixed/account"
    own 0 sync --folder "etcd:$TMPDIR/mixed"; accepted
done
stub "$fleet/stub-192.0.2.7.pem" "$fleet/stub-192.0.2.7.key"
printf 'user anna\nendpoint https://127.0.0.1:%s\n' "$stub_port" >"$TMPDIR/mixed/account"
reached 64 sync --folder "etcd:$TMPDIR/mixed"; text "https://127.0.0.1:$stub_port shows the certificate of another host"
own 0 sync --folder "etcd:$anna"

# A server joins by a token, as with a folder.
with 0 sync token ci --item s/first --file "$TMPDIR/token"
device ci; new_keychain; set_passcode; with 0 sync join "etcd:$anna" --token-file "$TMPDIR/token"
own 53 sync; text 'waits until'
sync keychain; text 'Admitted ci as a companion'
sync ci; text 'Joined as a companion'; equals "$(vauban get s/first)" 'after compaction'
# A device joins by the recovery key, and the others follow.
device keychain; with 0 sync recovery --make; key=$(cat "$TMPDIR/out"); is_key "$key" || fail 'no recovery key was printed'
device new; new_keychain; set_passcode
expect_status 0 setsid --wait "$VAUBAN_BUILD/vauban" sync join "etcd:$anna" --name new --recovery-key-fd 4 --passcode-fd 3 3<<<"$passcode" 4<<<"$key" </dev/null
text 'Joined by the recovery key'; equals "$(vauban get s/first)" 'after compaction'
sync keychain; text 'new joined the circle by the recovery key'; sync laptop; sync ci
# What a removed device wrote, also in parts, goes as soon as every member has followed its removal, and not before.
sed -i 's/long-2/long-3/' "$TMPDIR/item"; device new; vauban add --json "$TMPDIR/item" 2>"$TMPDIR/err" || { cat "$TMPDIR/err"; fail 'a long item is not added'; }
sync new; text '1 sent.'
device keychain; own 0 sync status; new=$(sed -n 's/^Device *new *\([0-9a-f]*\).*/\1/p' "$TMPDIR/out")
of_new() { etcdctl_root get --prefix --keys-only /vauban/1/anna/ >"$TMPDIR/keys" || fail 'etcd does not say what is there'; grep "/$new" "$TMPDIR/keys"; }
of_new >/dev/null; grep -q "/parts/devices/$new" "$TMPDIR/keys" || fail 'the new device wrote no parts'
with 0 sync remove new
of_new | grep -q '/files/devices/' || fail 'what a removed device wrote went before every member had followed'
own 0 sync status; expect_text 'files of removed devices stay until vauban sync has run on laptop' "$TMPDIR/out"
sync laptop; text 'of removed devices from the folder'; [ "$(vauban get s/long-3)" = "$long" ] || fail 'an item of the removed device is lost'
equals "$(of_new)" ''
left=$(etcdctl_root get --prefix --keys-only /vauban/1/anna/files/join/) || fail 'etcd does not say what is there'
equals "$left" ''
device keychain

# etcd is put back to an earlier copy: each device says so, and reads and writes nothing until its user names the place anew.
nodes_end() { pids=$(node_pids); kill -9 $pids; ended $pids; }
# nodes_have FOLDER: the nodes are started with a copy of what they had.
nodes_have() { nodes_end; rm -rf "$fleet"/data-*; cp -a "$1"/data-* "$fleet"; fleet_starts; }
mkdir "$TMPDIR/earlier" "$TMPDIR/later"
nodes_end; cp -a "$fleet"/data-* "$TMPDIR/earlier"; fleet_starts
device laptop; printf 'after the copy' | vauban set s/first --replace; sync laptop; sync keychain
equals "$(vauban get s/first)" 'after the copy'
nodes_end; cp -a "$fleet"/data-* "$TMPDIR/later"
fleet_starts; nodes_have "$TMPDIR/earlier"
for name in keychain laptop; do
    sync $name 64; text 'etcd was put back to an earlier state'; text "vauban sync --folder etcd:$anna goes on with what is there"
done
device keychain
for words in 'remove laptop' approve 'recovery --make'; do own 64 sync $words; text 'etcd was put back to an earlier state'; done
# Accepted here: what the laptop wrote is missed now. The laptop waits, and goes on when the newer copy is there.
own 1 sync --folder "etcd:$anna"; text 'lacks files of laptop that were read before'
own 1 sync
nodes_have "$TMPDIR/later"
sync laptop

# An etcd that was set up anew, with another identity, is empty, which is noticed, and nothing here is lost or deleted.
cp -a Install/etcd "$TMPDIR/another"; sed -i 's/--initial-cluster-token vauban-sync/--initial-cluster-token another/' "$TMPDIR/another/start"
nodes_end; rm -rf "$fleet"/data-*
"$TMPDIR/another/start" "$fleet" >"$TMPDIR/start" 2>&1 || { cat "$TMPDIR/start"; fail 'a new etcd does not start'; }
device keychain
own 51 sync; text 'refuses the user or the password'
Install/etcd/add-user "$fleet" anna >/dev/null || fail 'a user cannot be added to a new etcd'
# The laptop did not make the last change of the circle, and cannot go on from there.
sync laptop 64; text 'The folder is in another etcd than before'; text 'ask its operator to restore a newer copy'
! grep -q -- '--folder' "$TMPDIR/err" || fail 'the message names a way that does not help'
own 64 sync --folder "etcd:$anna"; text 'The folder lacks circle/00000006'
equals "$(vauban get s/first)" 'after the copy'
sync keychain 64; text 'The folder is in another etcd than before'; text "vauban sync --folder etcd:$anna goes on with what is there"
own 1 sync --folder "etcd:$anna"; text 'lacks files of laptop that were read before'
equals "$(vauban get s/first)" 'after the copy'

# Who leaves: neither the user nor the files are left.
Install/etcd/remove-user "$fleet" anna && Install/etcd/remove-user "$fleet" anna || fail 'a user cannot be removed'
left=$(etcdctl_root get --prefix --keys-only /vauban/1/anna/) || fail 'etcd does not say what is there'
equals "$left" ''
own 51 sync --folder "etcd:$TMPDIR/moved"; text 'refuses the user or the password'
echo 'items travel through etcd, whose nodes may fail, and others do not get in'
