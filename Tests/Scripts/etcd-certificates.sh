#!/usr/bin/env bash
# The certificates of the example in Install/etcd: start and add-user renew those that are near their end, while the nodes run, and leave
# the others as they are; an authority that has expired is named with what to do, and a new one takes its place without loss.
# limit: 900
set -u
for tool in etcd etcdctl openssl python3; do command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }; done
. Tests/Scripts/lib/deadline.sh
. Tests/Scripts/lib/free-ports.sh
fleet=$TMPDIR/fleet
fail() { echo "FAILED: $*"; exit 1; }
equals() { [ "$1" = "$2" ] || fail "there is \"$1\", not \"$2\""; }
said() { grep -qF -- "$1" "$TMPDIR/said" || { cat "$TMPDIR/said"; fail "there is no \"$1\" in what was said"; }; }
is_silent() { ! grep -q 'expire\|renew' "$TMPDIR/said" || { cat "$TMPDIR/said"; fail 'certificates are named that need nothing'; }; }
starts() { Install/etcd/start "$fleet" >"$TMPDIR/said" 2>&1 || { cat "$TMPDIR/said" "$fleet"/node-*.log; fail 'etcd does not start'; }; }
adds() { Install/etcd/add-user "$@" "$fleet" anna >"$TMPDIR/said" 2>&1 || { cat "$TMPDIR/said"; fail 'no account for the user'; }; }
digests() { (cd "$fleet" && sha256sum ./*.pem ./*.key users/anna/*); }
# changed: the names of the files that are others than when $before was noted.
changed() { diff <(echo "$before") <(digests) | sed -n 's/^> [0-9a-f]*  //p' | sort | paste -sd' '; }
# reissue NAME AUTHORITY DAYS: another certificate with what the present one has, but valid for other DAYS.
reissue() {
    (
        cd "$fleet" && . "$OLDPWD/Install/etcd/lib.sh" && certificate_days=$3 || exit
        subject=$(openssl x509 -in "$1.pem" -noout -subject -nameopt compat) && rm "$1.pem" &&
            certify "$1" "$2" "${subject#subject=}" serverAuth,clientAuth 'DNS:localhost,IP:127.0.0.1,IP:::1'
    ) || fail "$1 cannot be issued"
}
# expire NAME FIRST LAST: gives the authority other dates, as YYYYMMDDHHMMSSZ.
expire() {
    (
        cd "$fleet" || exit
        printf '%s\n' '[ca]' 'default_ca=own' '[own]' 'database=own.index' 'serial=own.serial' 'new_certs_dir=.' 'default_md=sha256' \
            'policy=any' 'x509_extensions=authority' '[any]' 'organizationName=supplied' 'organizationalUnitName=supplied' \
            '[authority]' 'basicConstraints=critical,CA:TRUE,pathlen:0' 'keyUsage=critical,keyCertSign,cRLSign' >own.conf
        : >own.index; echo 01 >own.serial
        openssl req -new -key "$1.key" -subj "/O=Vauban sync/OU=authority $1" -out own.csr &&
            openssl ca -batch -config own.conf -selfsign -keyfile "$1.key" -in own.csr -startdate "$2" -enddate "$3" -notext -out "$1.pem"
        status=$?; rm -f own.* 01.pem; exit $status
    ) >"$TMPDIR/said" 2>&1 || { cat "$TMPDIR/said"; fail "the dates of $1 cannot be changed"; }
}
presented() { openssl s_client -connect "127.0.0.1:$1" </dev/null 2>/dev/null | openssl x509 -noout -fingerprint; }
fingerprint() { openssl x509 -in "$fleet/$1.pem" -noout -fingerprint; }
days_left() { openssl x509 -in "$fleet/$1.pem" -noout -checkend $(($2 * 86400)) >/dev/null; }
value() { in_fleet administer get --print-value-only kept; }
trap 'Install/etcd/stop "$fleet" 2>/dev/null' EXIT

free_ports
starts; adds
printf 'before all' >"$TMPDIR/value"
input=$TMPDIR/value in_fleet administer put kept >/dev/null || fail 'nothing can be stored'
days_left ca 3600 && days_left peers 3600 || fail 'an authority does not last ten years'
before=$(digests) pids=$(cat "$fleet"/node-*.pid)
starts; is_silent; adds; is_silent
equals "$(changed)" ''

# Those that end within 90 days are renewed, and no others. No node restarts, and each presents its new certificate.
reissue node-1 ca 89; reissue peer-2 peers 1; reissue root ca 89; reissue node-3 ca 91
before=$(digests)
starts; is_silent
equals "$(changed)" './node-1.key ./node-1.pem ./peer-2.key ./peer-2.pem ./root.key ./root.pem'
for name in node-1 peer-2 root; do days_left $name 800 || fail "$name was not renewed for long"; done
equals "$(cat "$fleet"/node-*.pid)" "$pids"
equals "$(presented "$PORT")" "$(fingerprint node-1)"
equals "$(presented $((PORT + 3)))" "$(fingerprint peer-2)"
equals "$(value)" 'before all'
# A renewal that was interrupted between the key and the certificate is repeated.
reissue node-2 ca 30; (cd "$fleet" && openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out node-2.key 2>/dev/null)
starts
equals "$(presented $((PORT + 2)))" "$(fingerprint node-2)"

# A user's: start names it, and add-user renews it; the password stays, except with --renew.
account=$fleet/users/anna
reissue users/anna/certificate ca 30; mv "$account/certificate.key" "$account/key.pem"
before=$(digests)
starts; said "The certificate of anna must be renewed: run add-user $fleet anna"
adds; equals "$(changed)" 'users/anna/certificate.pem users/anna/key.pem'
equals "$(openssl x509 -in "$account/certificate.pem" -noout -pubkey)" "$(openssl pkey -in "$account/key.pem" -pubout)"
before=$(digests)
adds --renew; equals "$(changed)" 'users/anna/certificate.pem users/anna/key.pem users/anna/password'
# An account that was being replaced when the command was interrupted keeps its password.
before=$(digests)
mv "$account" "$fleet/users/.anna.old"; adds; equals "$(changed)" ''

# An authority near its end is named, and works; one that has expired is named with what to do, which works.
expire ca 20010101000000Z "$(date -u -d '+30 days' +%Y%m%d%H%M%SZ)"
starts; said 'The authority ca expires on '; said "remove $fleet/ca.pem"
adds; said 'The authority ca expires on '
for name in ca peers; do
    expire $name 20010101000000Z 20020101000000Z
    before=$(digests)
    Install/etcd/start "$fleet" >"$TMPDIR/said" 2>&1; equals $? 1
    said "The authority $name expired on Jan  1 00:00:00 2002 GMT"
    said "run stop $fleet, remove $fleet/$name.pem, and run start $fleet"
    if [ $name = ca ]; then
        said 'then run add-user for each user'
        Install/etcd/add-user "$fleet" anna >"$TMPDIR/said" 2>&1; equals $? 1
        said 'The authority ca expired on'
    fi
    equals "$(changed)" ''
    Install/etcd/stop "$fleet" || fail 'the nodes do not end'
    rm "$fleet/$name.pem"
    starts; equals "$(value)" 'before all'
done
said 'The certificate of anna must be renewed'
before=$(digests)
adds; equals "$(changed)" 'users/anna/ca.pem users/anna/certificate.pem users/anna/key.pem'
openssl verify -no-CApath -CAfile "$account/ca.pem" "$account/certificate.pem" >/dev/null ||
    fail 'the account has the certificate of another authority'
starts; is_silent
echo 'certificates near their end are renewed while the nodes run, and an authority is replaced without loss'
