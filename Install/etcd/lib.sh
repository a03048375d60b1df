# Functions for start, add-user, remove-user and stop, which run in the folder of the nodes. Every step can be repeated after an
# interruption.
export LC_ALL=C

# require_name NAME: checks that NAME can be a user (EtcdKeys.isUser has the same rule).
require_name() {
    case $1 in '' | root | -* | *[!a-z0-9-]*) false ;; *) [ ${#1} -le 64 ] ;; esac || {
        echo 'A name has 1 to 64 lowercase letters, digits and hyphens, does not begin with a hyphen, and is not root.' >&2
        exit 64
    }
}

# quietly COMMAND: shows the output only if the command fails, since openssl prints its progress.
quietly() { "$@" 2>openssl.log || { cat openssl.log >&2; echo "$1 $2 failed in $PWD" >&2; return 1; }; }

make_key() { quietly openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# How many days authorities and certificates are valid, and how many days before its end a certificate is renewed.
authority_days=${AUTHORITY_DAYS:-3650}
certificate_days=${CERTIFICATE_DAYS:-825}
renewal_days=90

# lasts NAME DAYS: checks that NAME.pem exists and is still valid after this number of days.
lasts() { openssl x509 -in "$1.pem" -noout -checkend $(($2 * 86400)) >/dev/null 2>&1; }

# make_authority NAME: creates NAME.key and NAME.pem, unless NAME.pem exists. Nothing was issued with the key before NAME.pem exists.
make_authority() {
    [ ! -e "$1.pem" ] || { require_authority "$1"; return; }
    make_key "$1.key.new"
    quietly openssl req -x509 -new -key "$1.key.new" -sha256 -days "$authority_days" -subj "/O=Vauban sync/OU=authority $1" \
        -out "$1.pem.new" -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign,cRLSign'
    mv "$1.key.new" "$1.key"
    mv "$1.pem.new" "$1.pem"
}

# require_authority NAME: ends the script if the authority has expired, since its certificates are then not valid either. Says so before it
# expires.
require_authority() {
    last=$(openssl x509 -in "$1.pem" -noout -enddate) || exit 1
    last=${last#notAfter=}
    remedy="To replace it: run stop $PWD, remove $PWD/$1.pem, and run start $PWD"
    # The accounts of users contain this one.
    [ "$1" != ca ] || remedy="$remedy; then run add-user for each user, and give all users their accounts again"
    lasts "$1" 0 || { echo "The authority $1 expired on $last. $remedy" >&2; exit 1; }
    lasts "$1" $renewal_days || echo "The authority $1 expires on $last. $remedy." >&2
}

# is_current NAME AUTHORITY: checks that the authority issued NAME.pem, which need not be renewed yet.
is_current() { lasts "$1" $renewal_days && openssl verify -no-CApath -CAfile "$2.pem" "$1.pem" >/dev/null 2>&1; }

# is_pair NAME: checks that NAME.key is the key of NAME.pem.
is_pair() { [ "$(openssl x509 -in "$1.pem" -noout -pubkey 2>/dev/null)" = "$(openssl pkey -in "$1.key" -pubout 2>/dev/null)" ]; }

# certify NAME AUTHORITY SUBJECT USES [NAMES]: creates NAME.key and NAME.pem, unless NAME.pem is current and has this key. A node that runs
# reads both files again for each connection. NAME.pem is replaced last, so that a renewal that was interrupted is repeated.
certify() {
    ! { is_current "$1" "$2" && is_pair "$1"; } || return 0
    make_key "$1.key.new"
    printf 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=%s\n%s' "$4" \
        "${5:+subjectAltName=$5}" >"$1.ext"
    quietly openssl req -new -key "$1.key.new" -subj "$3" -out "$1.csr"
    quietly openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -set_serial "0x$(openssl rand -hex 16)" -sha256 \
        -days "$certificate_days" -extfile "$1.ext" -out "$1.pem.new"
    rm "$1.ext" "$1.csr"
    mv "$1.key.new" "$1.key"
    mv "$1.pem.new" "$1.pem"
}

# as CERTIFICATE WORDS...: runs etcdctl with NAME.pem and NAME.key. Its input is the file $input, from the beginning each time. It waits
# ETCD_SECONDS for etcd, 5 by default.
as() {
    certificate=$1
    shift
    ETCDCTL_API=3 etcdctl --endpoints "$(paste -sd, endpoints)" --cacert ca.pem --cert "$certificate.pem" --key "$certificate.key" \
        --command-timeout "${ETCD_SECONDS:-5}s" "$@" <"${input:-/dev/null}"
}

# again COMMAND...: runs the command up to three times while the nodes have no leader, which its errors ($said) distinguish from a refusal.
again() {
    for _ in 1 2 3; do
        { said=$("$@" 2>&1 >&3) && return; } 3>&1
        case $said in *'deadline exceeded'* | *'timed out'* | *leader* | *Unavailable*) ;; *) break ;; esac
    done
    return 1
}

# administer WORDS...: runs etcdctl as etcd's administrator, for commands that can be repeated.
administer() { again as root "$@" || { echo "$said" >&2; return 1; }; }

# administer_unless TEXT WORDS...: the same, but an error that contains TEXT means that the work was done before.
administer_unless() {
    text=$1
    shift
    again as root "$@" || case $said in *"$text"*) ;; *) echo "$said" >&2; return 1 ;; esac
}

# is_guarded: checks whether etcd refuses a certificate without a password. Without a reply this is unknown, which ends the script.
is_guarded() {
    ! again as node-1 get x >/dev/null || return 1
    case $said in *'permission denied'* | *'user name is empty'*) ;; *) echo "$said" >&2; exit 1 ;; esac
}

# is_running NODE: looks for the node's folder in the command line of the process, since another program may have the number by now.
is_running() {
    [ -e "node-$1.pid" ] || return 1
    { tr '\0' '\n' <"/proc/$(cat "node-$1.pid")/cmdline"; } 2>/dev/null | grep -qxF -e "$PWD/data-$1"
}

# ends NODE SECONDS: waits until a node has ended. A process that is not waited for keeps its number, so this checks again each second.
ends() {
    seconds=0
    while is_running "$1"; do
        [ $seconds -lt "$2" ] || return 1
        timeout 1 tail --pid="$(cat "node-$1.pid")" -f /dev/null || true
        seconds=$((seconds + 1))
    done
}
