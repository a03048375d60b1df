#!/usr/bin/env bash
# Certificates that are not accepted between a device and etcd: of the account or of a node, expired, of another authority or host, or
# without their key. vauban sync names the certificate and the way out, with a status that a timer does not take for success; the follower
# ends if the account is refused, and otherwise goes on. A node that is away stays a temporary fault, whatever has expired.
# limit: 600
set -u
umask 022
for tool in etcd etcdctl openssl python3; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/free-ports.sh
[ -x "$VAUBAN_BUILD/vauban-sync-etcd" ] || { echo 'vauban-sync-etcd is not built'; exit 77; }
fleet=$TMPDIR/fleet
follower=
servers=()
finish() {
    [ -z "$follower" ] || kill "$follower"
    [ ${#servers[@]} = 0 ] || kill "${servers[@]}"
    vauban stop
    Install/etcd/stop "$fleet"
}
trap 'finish >/dev/null 2>&1' EXIT
text() { expect_text "$1" "$TMPDIR/err"; }
own() { expect_status "$1" setsid --wait "$VAUBAN_BUILD/vauban" "${@:2}" </dev/null; }
equals() { [ "$1" = "$2" ] || fail "there is \"$1\", not \"$2\""; }
starts() { Install/etcd/start "$fleet" >"$TMPDIR/start" 2>&1 || { cat "$TMPDIR/start" "$fleet"/node-*.log; fail 'etcd does not start'; }; }
# issue NAME AUTHORITY USES NAMES FIRST LAST: $TMPDIR/NAME.pem and .key, with these dates (YYYYMMDDHHMMSSZ). Without an authority, the
# certificate is its own.
issue() {
    (
        cd "$TMPDIR" || exit
        printf '%s\n' '[ca]' 'default_ca=own' '[own]' 'database=own.index' 'rand_serial=yes' 'new_certs_dir=.' 'default_md=sha256' \
            'policy=any' 'x509_extensions=more' '[any]' 'organizationName=supplied' 'organizationalUnitName=supplied' '[more]' \
            'basicConstraints=critical,CA:FALSE' "extendedKeyUsage=$3" ${4:+"subjectAltName=$4"} >own.conf
        : >own.index
        signer=(-cert "$fleet/$2.pem" -keyfile "$fleet/$2.key")
        [ -n "$2" ] || signer=(-selfsign -keyfile "$1.key")
        openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" && chmod 600 "$1.key" &&
            openssl req -new -key "$1.key" -subj "/O=Vauban sync/OU=$1" -out own.csr &&
            openssl ca -batch -config own.conf "${signer[@]}" -in own.csr -startdate "$5" -enddate "$6" -notext -out "$1.pem"
    ) >"$TMPDIR/issued" 2>&1 || { cat "$TMPDIR/issued"; fail "$1 cannot be issued"; }
}
# account NAME [CERTIFICATE]: a copy of the account, with this certificate and its key.
account() {
    rm -rf "$TMPDIR/$1"; cp -a "$anna" "$TMPDIR/$1"
    [ $# = 1 ] || { cp "$TMPDIR/$2.pem" "$TMPDIR/$1/certificate.pem"; cp "$TMPDIR/$2.key" "$TMPDIR/$1/key.pem"; }
}
# nodes NAME ENDPOINT...: the account has these endpoints.
nodes() { printf 'user anna\n' >"$TMPDIR/$1/account"; printf 'endpoint %s\n' "${@:2}" >>"$TMPDIR/$1/account"; }
# refused STATUS NAME TEXT...: vauban sync with the account ends with the status, says each text, and records nothing.
refused() {
    reached "$1" sync --folder "etcd:$TMPDIR/$2"
    for said in "${@:3}"; do text "$said"; done
    cmp -s "$TMPDIR/record" "$VAUBAN_HOME/sync/last-sync" || fail "a run with the account $2 was recorded"
}
# stub [CERTIFICATE [AUTHORITY]]: a server in etcd's place that answers with nonsense; its port is $stub_port.
stub() {
    local certificate=()
    [ $# = 0 ] || certificate=("$TMPDIR/$1.pem" "$TMPDIR/$1.key" "${@:2}")
    exec {says}< <(exec python3 Tests/Scripts/lib/hostile-etcd.py "$TMPDIR/stub" "${certificate[@]}" 2>/dev/null)
    servers+=($!)
    read -r -t "$hang_seconds" -u "$says" stub_port || fail 'the stub does not start'
}
follow() { : >"$TMPDIR/said"; "$VAUBAN_BUILD/vauban" sync --follow --no-input >"$TMPDIR/said" 2>&1 </dev/null & follower=$!; }
awaits() { awaited "the follower says: $1" grep -qF -- "$1" "$TMPDIR/said"; }

free_ports
starts
anna=$(Install/etcd/add-user "$fleet" anna) || fail 'no user can be added'
good=https://127.0.0.1:$PORT
mkdir "$TMPDIR/stub"; echo nonsense >"$TMPDIR/stub/mode"
set_passcode
own 0 sync new "etcd:$anna" --name desk
cp "$VAUBAN_HOME/sync/last-sync" "$TMPDIR/record"
past='20200101000000Z 20200201000000Z' future='21000101000000Z 21000201000000Z'

# The account's certificate.
issue expired ca clientAuth '' $past; account expired expired
refused 51 expired 'certificate.pem of the account in etcd expired on 2020-02-01. Its operator must renew the account' \
    '(Install/etcd/add-user)' "date of this device, $(date -u +%Y-)" "$good refuses certificate.pem of the account"
issue foreign '' clientAuth '' 20200101000000Z 21000101000000Z; account foreign foreign
refused 51 foreign 'etcd does not accept the certificate of the account. Its operator must renew the account' "$good refuses certificate.pem"
issue early ca clientAuth '' $future; account early early
refused 53 early 'not valid yet by the date of this device' 'correct it'
account half; cp "$TMPDIR/expired.pem" "$TMPDIR/half/certificate.pem"
refused 64 half 'key.pem of the account is not the key of its certificate.pem; copy the whole account again'

# The nodes' certificates, and the authority for them.
account other; cp "$TMPDIR/foreign.pem" "$TMPDIR/other/ca.pem"
refused 64 other 'Its operator must renew the node' 'Install/etcd/start' \
    "$good shows a certificate that has expired or is not valid yet, or that ca.pem of the account did not issue"
issue authority '' serverAuth '' $past; cp "$TMPDIR/authority.pem" "$TMPDIR/other/ca.pem"
refused 64 other 'ca.pem of the account in etcd expired on 2020-02-01. Its operator must replace the authority'
issue late ca serverAuth IP:127.0.0.1 $past; stub late; late=https://127.0.0.1:$stub_port
issue moved ca serverAuth IP:192.0.2.7 20200101000000Z 21000101000000Z; stub moved; moved=https://127.0.0.1:$stub_port
account nodes; nodes nodes "$late" "$moved"
refused 64 nodes "$late shows a certificate that has expired" "$moved shows the certificate of another host"
# One node that is away does not hide it, and one that serves makes up for the others.
nodes nodes "$late" https://127.0.0.1:1; refused 64 nodes "$late shows a certificate that has expired" 'https://127.0.0.1:1 is not reached'
nodes nodes "$late" "$moved" "$good"
own 0 sync --folder "etcd:$TMPDIR/nodes"; own 0 sync --folder "etcd:$anna"
cp "$VAUBAN_HOME/sync/last-sync" "$TMPDIR/record"

# An alert before the end of a handshake may come from anyone, so it does not end the follower; without TLS or a node, nothing is refused.
issue node ca serverAuth IP:127.0.0.1 20200101000000Z 21000101000000Z
stub node "$fleet/ca.pem"
for name in foreign expired; do nodes $name "https://127.0.0.1:$stub_port"; done
refused 64 foreign "https://127.0.0.1:$stub_port refuses certificate.pem of the account, which another authority issued"
refused 51 expired 'certificate.pem of the account in etcd expired'
stub; nodes expired "https://127.0.0.1:$stub_port"; refused 53 expired 'try again later'
nodes expired https://127.0.0.1:1; refused 53 expired 'https://127.0.0.1:1 is not reached' 'try again later'

# The follower goes on once the node's certificate, or the authority of the account, is right.
cp "$anna/ca.pem" "$TMPDIR/kept"; cp "$TMPDIR/foreign.pem" "$anna/ca.pem"
follow; awaits 'Not synchronized: A certificate keeps this device from etcd'
cp "$TMPDIR/kept" "$anna/ca.pem"
awaits 'Synchronizing again.'
kill -0 "$follower" || fail 'the follower has ended'
kill "$follower"; wait "$follower" 2>/dev/null; follower=
# It ends when the account is refused, as systemd then shows, and works again with the account that the operator renewed.
cp "$TMPDIR/expired.pem" "$anna/certificate.pem"; cp "$TMPDIR/expired.key" "$anna/key.pem"
cp "$VAUBAN_HOME/sync/last-sync" "$TMPDIR/record"
follow; ended() { ! kill -0 "$follower" 2>/dev/null; }; awaited 'the end of the follower' ended
wait "$follower"; status=$?; follower=
equals "$status" 51; expect_text 'certificate.pem of the account in etcd expired on 2020-02-01' "$TMPDIR/said"
own 51 sync; cmp -s "$TMPDIR/record" "$VAUBAN_HOME/sync/last-sync" || fail 'a run that was refused was recorded'
# What status shows needs no etcd.
own 0 sync status; expect_text 'Last synchronized: ' "$TMPDIR/out"
Install/etcd/add-user "$fleet" anna >/dev/null || fail 'the account cannot be renewed'
own 0 sync
echo 'certificates that are not accepted are named with the way out, and are no success of a timer'
