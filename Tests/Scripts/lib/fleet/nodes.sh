#!/bin/sh
# For fleet: certificates for an etcd whose nodes have other addresses than Install/etcd/start uses, and access by roles.
#   nodes.sh certificates FOLDER ADDRESS...    for one node each; nodes.sh guard FOLDER, once they run
set -eu
umask 077
etcd=$(cd "$(dirname "$0")/../../../../Install/etcd" && pwd)
verb=$1
mkdir -p "$2"
cd "$2"
shift 2
. "$etcd/lib.sh"
case $verb in
    certificates)
        make_authority ca
        make_authority peers
        certify root ca '/O=Vauban sync/CN=root' clientAuth
        number=0
        for address; do
            number=$((number + 1))
            certify node-$number ca "/O=Vauban sync/OU=node $number" serverAuth,clientAuth "IP:$address"
            certify peer-$number peers "/O=Vauban sync/OU=peer $number" serverAuth,clientAuth "IP:$address${PEERS:+,IP:$PEERS.$number}"
        done ;;
    guard)
        administer_unless 'already exists' role add root >/dev/null
        administer_unless 'already exists' user add root --no-password >/dev/null
        administer user grant-role root root >/dev/null
        administer auth enable >/dev/null
        is_guarded || { echo 'etcd admits a client that has a certificate and no password' >&2; exit 1; } ;;
esac
