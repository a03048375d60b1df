# For start, add-user and stop, in the folder of the nodes.

make_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

# certify NAME SUBJECT USES [NAMES]: NAME.key and NAME.pem, by this folder's authority.
certify() {
    make_key "$1.key"
    printf 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=%s\n%s' "$3" \
        "${4:+subjectAltName=$4}" >"$1.ext"
    openssl req -new -key "$1.key" -subj "$2" |
        openssl x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -sha256 -days 825 -extfile "$1.ext" -out "$1.pem" 2>/dev/null
    rm "$1.ext"
}

# administer WORDS...: etcdctl, as etcd's administrator.
administer() {
    ETCDCTL_API=3 etcdctl --endpoints "$(paste -sd, endpoints)" --cacert ca.pem --cert root.pem --key root.key --command-timeout 5s "$@"
}

# A process that has ended and that nobody has waited for has no program any more.
is_running() {
    [ -e "node-$1.pid" ] || return 1
    case $(readlink "/proc/$(cat "node-$1.pid")/exe" 2>/dev/null) in */etcd*) ;; *) return 1 ;; esac
}
