#!/usr/bin/env bash
# Transport security against real servers of every kind: what is refused by which rule, and which exception allows it.
# proves: C-230 C-231 C-232 C-233 C-234 C-235
# limit: 600
set -u
vauban=$(realpath "${VAUBAN_BUILD:-.build/release}")/vauban
[ -x "$vauban-ats" ] || { echo "vauban-ats is not built: scripts/build"; exit 77; }
ats() { "$vauban" ats "$@"; }
command -v openssl >/dev/null || { echo 'there is no openssl here'; exit 77; }
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
# An address of the Internet (RFC 5737 reserves it for documentation) and one of a local network are in a network of this test, which root can
# make.
internet=203.0.113.7 nearby=10.99.0.7
network="ip link set lo up && ip address add $internet/32 dev lo && ip address add $nearby/32 dev lo"
if [ -z "${TRANSPORT_NETWORK:-}" ] && [ "$(id -u)" = 0 ] && unshare --net sh -c "$network" 2>/dev/null; then
    TRANSPORT_NETWORK=1 exec unshare --net sh -c "$network"' && exec "$@"' sh "$0" "$@"
fi
. Tests/Scripts/lib/deadline.sh
. Tests/Scripts/lib/free-ports.sh
. Tests/Scripts/lib/own-mounts.sh
manual=$PWD/Manual/transport.md
cd "$TMPDIR" || exit 1
servers=()
trap 'for server in "${servers[@]}"; do kill "$server" 2>/dev/null; done' EXIT
failures=0
checks=0

# authority NAME OPTIONS...: a root, in NAME.pem and NAME.key.
authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.pem" -days 30 -subj "/CN=$1" "${@:2}" 2>>openssl.log
}
# intermediate NAME SUBJECT SIGNING-OPTIONS: an authority signed by the root `ca`, with a key of `$bits`.
intermediate() {
    openssl req -newkey "rsa:${bits:-2048}" -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$2" 2>>openssl.log &&
        printf 'basicConstraints=critical,CA:TRUE\nsubjectKeyIdentifier=hash\n' >"$1.ext" &&
        openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -extfile "$1.ext" -out "$1.pem" -days 20 "${@:3}" 2>>openssl.log ||
        { cat openssl.log; echo "openssl could not make $1"; exit 1; }
}
# certificate NAME HOST KEY-OPTIONS -- SIGNING-OPTIONS: signed by the root `ca`, or by `$issuer`.
certificate() {
    local name=$1 host=$2 issuer=${issuer:-ca}
    shift 2
    local key=()
    while [ "$1" != -- ]; do
        key+=("$1")
        shift
    done
    shift
    openssl req -newkey "${key[@]}" -nodes -keyout "$name.key" -out "$name.csr" -subj "/CN=$host" 2>>openssl.log &&
        printf 'subjectAltName=DNS:%s,IP:%s\nbasicConstraints=CA:FALSE\nauthorityKeyIdentifier=keyid\n%s\n' \
            "$host" "${address:-127.0.0.1}" "${purpose:+extendedKeyUsage=$purpose}" >"$name.ext" &&
        openssl x509 -req -in "$name.csr" -CA "$issuer.pem" -CAkey "$issuer.key" -CAcreateserial -extfile "$name.ext" -out "$name.pem" "$@" 2>>openssl.log ||
        { cat openssl.log; echo "openssl could not make $name"; exit 1; }
}

authority ca
authority stranger
certificate good localhost rsa:2048 -- -days 20 -sha256
certificate ec localhost ec -pkeyopt ec_paramgen_curve:P-256 -- -days 20 -sha256
certificate sha1 localhost rsa:2048 -- -days 20 -sha1
certificate short localhost rsa:1024 -- -days 20 -sha256
certificate curve localhost ec -pkeyopt ec_paramgen_curve:secp224r1 -- -days 20 -sha256
address=127.0.0.9 certificate other other.example rsa:2048 -- -days 20 -sha256
address=$internet certificate public public.example rsa:2048 -- -days 20 -sha256
certificate expired localhost rsa:2048 -- -days -1 -sha256
purpose=clientAuth certificate client localhost rsa:2048 -- -days 20 -sha256
purpose=clientAuth,serverAuth certificate both localhost rsa:2048 -- -days 20 -sha256
# `openssl x509` has no option for the first day, `openssl ca` has.
certificate future localhost rsa:2048 -- -days 20 -sha256
printf '[ca]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\npolicy=any\n[any]\ncommonName=supplied\n' >ca.conf
: >index
openssl ca -batch -notext -config ca.conf -name ca -cert ca.pem -keyfile ca.key -md sha256 -in future.csr -extfile future.ext \
    -startdate 20990101000000Z -enddate 20991231000000Z -out future.pem 2>>openssl.log || { cat openssl.log; exit 1; }
intermediate between between -sha256
issuer=between certificate below localhost rsa:2048 -- -days 20 -sha256
intermediate weak weak -sha1
issuer=weak certificate belowweak localhost rsa:2048 -- -days 20 -sha256
bits=1024 intermediate little little -sha256
issuer=little certificate belowlittle localhost rsa:2048 -- -days 20 -sha256
# It names itself as its issuer, as a root does, but is not one.
intermediate selfissued ca -sha1
issuer=selfissued certificate belowselfissued localhost rsa:2048 -- -days 20 -sha256
openssl req -x509 -newkey rsa:2048 -nodes -keyout self.key -out self.pem -days 30 -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>>openssl.log

# serve NAME OPTIONS...: an HTTPS server of OpenSSL with that certificate; sets `port` when it listens.
serve() {
    local name=$1
    shift
    # Stays open: the server writes to it at each connection.
    local lines=serve.${#servers[@]} output
    mkfifo "$lines" && exec {output}<>"$lines"
    stdbuf -oL openssl s_server -accept 0 -naccept 100 -cert "$name.pem" -key "$name.key" -www "$@" >&"$output" 2>>openssl.log &
    servers+=($!)
    port=
    while read -r -t "$hang_seconds" line <&"$output"; do
        case $line in ACCEPT*:*) port=${line##*:} && break ;; esac
    done
    [ -n "$port" ] || { cat openssl.log; echo "no server with $name $*"; exit 1; }
}

# list KEYS: the property list whose exception for localhost has these keys; nothing local is excepted.
list() {
    cat >"$TMPDIR/list.plist" <<PLIST
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict><key>NSAllowsLocalNetworking</key><false/>$1</dict></dict></plist>
PLIST
}
exception() { list "<key>NSExceptionDomains</key><dict><key>localhost</key><dict>$1</dict></dict>"; }
insecure='<key>NSExceptionAllowsInsecureHTTPLoads</key><true/>'
no_secrecy='<key>NSExceptionRequiresForwardSecrecy</key><false/>'
minimum() { echo "<key>NSExceptionMinimumTLSVersion</key><string>$1</string>"; }

# expect VERDICT WHAT [URL]: loads under list.plist. VERDICT is `allowed` or the rule that refuses.
expect() { load "${3:-https://localhost:$port/}"; decided "$1" "$2"; }
load() { status=0; ats load --plist list.plist --ca ca.pem "$1" >output 2>&1 || status=$?; }
decided() {
    local verdict=$1 what=$2
    checks=$((checks + 1))
    if [ "$verdict" = allowed ]; then
        [ $status = 0 ] && return
    else
        [ $status = 1 ] && grep -q "^Rule: $verdict," output && return
    fi
    failures=$((failures + 1))
    echo "FAILED: $what: expected $verdict, exit $status: $(tr '\n' ' ' <output)"
}

list ''
serve good
good=$port
expect allowed 'a good server'
serve ec
expect allowed 'a good server with an elliptic curve'
serve good -tls1_3
expect allowed 'TLS 1.3'

serve below -cert_chain between.pem
expect allowed 'an intermediate certificate'
serve below
expect trust 'an intermediate certificate that the server does not show'

# Addresses and full names.
port=$good
for host in 127.0.0.1 0x7f000001 127.1; do
    list ''
    expect allowed "the host $host" "https://$host:$port/"
    list '<key>NSExceptionDomains</key><dict><key>127.0.0.0/8</key><dict><key>NSExceptionMinimumTLSVersion</key><string>TLSv1.3</string></dict></dict>'
    expect allowed "the host $host with an entry for its addresses" "https://$host:$port/"
done
serve stranger -servername localhost -servername_fatal -cert2 good.pem -key2 good.key
names=$port
serve good -tls1_2
for host in 127.0.0.1 0x7f000001 127.1 2130706433; do
    expect minimum-version "the host $host with an entry for its addresses" "https://$host:$port/"
done
# A name with a dot at its end, which the machine's own list of hosts must have.
if [ "$(id -u)" = 0 ] && "$has_own_mounts"; then
    printf '127.0.0.1 localhost\n127.0.0.1 localhost.\n' >hosts
    ats() { unshare $own_mounts sh -c 'mount --bind hosts /etc/hosts && exec "$@"' sh "$vauban" ats "$@"; }
    list ''
    for server in $good $names; do
        port=$server
        expect allowed "a full name ($port)" "https://localhost.:$port/"
    done
    ats() { "$vauban" ats "$@"; }
else
    echo 'A full name was not tried: only root can put it into the list of hosts'
fi
list ''
expect invalid-host 'a host with a zero byte' "http://localhost%00.local:$port/"

# HTTP/2, and a server that shows another certificate once it was checked, and closes soon.
if command -v node >/dev/null; then
    cat >http2.js <<'JS'
const http2 = require("http2"), fs = require("fs")
const server = http2.createSecureServer({ cert: fs.readFileSync("good.pem"), key: fs.readFileSync("good.key") })
server.on("stream", (stream, headers) => { stream.respond({ ":status": 200 }); stream.end(headers[":path"]) })
server.listen(0, "localhost", () => console.log(server.address().port))
JS
    mkfifo http2.port
    node http2.js >http2.port 2>>node.log &
    servers+=($!)
    read -r port <http2.port
    expect allowed 'HTTP/2'
else
    echo 'HTTP/2 was not tried: there is no node here'
fi
# nginx, by a configuration of this test's own.
nginx=$(command -v nginx || ls /usr/sbin/nginx 2>/dev/null)
if [ -n "$nginx" ]; then
    free_ports
    nginx_2=$PORT nginx_1=$((PORT + 1)) nginx_plain=$((PORT + 2))
    cat below.pem between.pem >nginx.pem
    mkdir -p logs nginx
    {
        [ "$(id -u)" != 0 ] || echo 'user root;'
        echo "daemon off; pid $PWD/nginx/pid; error_log $PWD/nginx/error; events { }"
        echo 'http { access_log off;'
        for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $PWD/nginx/$kind;"; done
        echo "ssl_certificate $PWD/nginx.pem; ssl_certificate_key $PWD/below.key;"
        echo "server { listen 127.0.0.1:$nginx_2 ssl http2; location / { return 200; } }"
        echo "server { listen 127.0.0.1:$nginx_1 ssl; ssl_protocols TLSv1.2; location / { return 302 https://localhost:$nginx_2/; } location /plain { return 302 http://localhost:$nginx_plain/; } }"
        echo "server { listen 127.0.0.1:$nginx_plain; location / { return 200; } } }"
    } >nginx.conf
    "$nginx" -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/nginx/error" 2>>nginx.log &
    servers+=($!)
    until (exec 3<>"/dev/tcp/127.0.0.1/$nginx_plain") 2>/dev/null; do
        kill -0 "${servers[-1]}" 2>/dev/null || { cat nginx.log nginx/error; echo 'nginx does not start'; exit 1; }
    done
    list ''
    expect allowed "nginx's HTTP/2 with an intermediate certificate" "https://localhost:$nginx_2/"
    expect allowed "a redirect of nginx's from HTTP/1.1 to HTTP/2" "https://localhost:$nginx_1/"
    expect insecure-http "a redirect of nginx's to plain HTTP" "https://localhost:$nginx_1/plain"
    exception "$(minimum TLSv1.3)"
    expect minimum-version "nginx's TLS 1.2 where 1.3 is demanded" "https://localhost:$nginx_1/"
else
    echo 'open: nginx: it is not installed; scripts/prerequisites test installs it'
fi
cat >changing.py <<'PYTHON'
import socket, ssl, sys, threading, time

contexts = []
for name in ["good", "ec"]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(name + ".pem", name + ".key")
    context.set_alpn_protocols([sys.argv[1]])
    contexts.append(context)
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)

def serve(number, connection):
    try:
        connection = contexts[number % 2].wrap_socket(connection, server_side=True)
        if sys.argv[1] == "h2": connection.send(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        time.sleep(0.05)
        connection.close()
    except OSError: pass

number = 0
while True:
    connection, _ = server.accept()
    threading.Thread(target=serve, args=(number, connection)).start()
    number += 1
PYTHON
for protocol in http/1.1 h2; do
    mkfifo "changing.${protocol%%/*}"
    python3 changing.py $protocol >"changing.${protocol%%/*}" &
    servers+=($!)
    read -r port <"changing.${protocol%%/*}"
    for attempt in 1 2 3; do
        # If this machine halts, the server closes before its certificate is seen, and no rule decides; then it is loaded again.
        for _ in {1..30}; do
            load "https://localhost:$port/"
            [ $status = 0 ] || grep -q '^Rule: ' output || continue
            break
        done
        decided trust "another certificate than the checked one ($protocol, $attempt)"
    done
done

# C-231, C-232: versions and suites.
for version in 1 1_1; do
    serve good "-tls$version" -cipher 'ALL:@SECLEVEL=0'
    list ''
    expect minimum-version "TLS $version"
    exception "$(minimum TLSv1.0)"
    expect allowed "TLS $version, excepted"
    exception "$no_secrecy"
    expect minimum-version "TLS $version without forward secrecy"
done
serve good -tls1_2
exception "$(minimum TLSv1.3)"
expect minimum-version 'TLS 1.2 where 1.3 is demanded'
serve good -tls1_2 -cipher AES128-GCM-SHA256
list ''
expect cipher-suite 'RSA key exchange'
exception "$insecure"
expect cipher-suite 'RSA key exchange, insecure HTTP excepted'
exception "$no_secrecy"
expect allowed 'RSA key exchange, excepted'
serve good -tls1_2 -cipher ECDHE-RSA-AES128-SHA
list ''
expect cipher-suite 'AES-CBC with SHA-1'
exception "$no_secrecy"
expect allowed 'AES-CBC with SHA-1, excepted'

# RC4 and 3DES: OpenSSL no longer has them, so a server that selects one of them whatever the client offers, and prints the offer.
cat >weak.py <<'PYTHON'
import socket, struct, sys

server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    hello = connection.recv(65536)
    # After the headers of record and message, the version and the random number: the session's length, and the suites.
    start = 5 + 4 + 2 + 32
    start += 1 + hello[start]
    length = struct.unpack(">H", hello[start:start + 2])[0]
    offered = struct.unpack(f">{length // 2}H", hello[start + 2:start + 2 + length])
    with open("offered", "a") as file: file.write(" ".join(f"{suite:04x}" for suite in offered) + "\n")
    message = b"\x03\x03" + bytes(32) + b"\0" + struct.pack(">H", int(sys.argv[1], 16)) + b"\0"
    message = b"\x02" + struct.pack(">I", len(message))[1:] + message
    connection.send(b"\x16\x03\x03" + struct.pack(">H", len(message)) + message)
    connection.recv(65536)
    connection.close()
PYTHON
for suite in 0005 000a c011 c012; do
    mkfifo "weak.$suite"
    python3 weak.py $suite >"weak.$suite" &
    servers+=($!)
    read -r port <"weak.$suite"
    exception "$insecure$no_secrecy$(minimum TLSv1.0)"
    expect cipher-suite "a server that takes the suite $suite, everything excepted"
done
checks=$((checks + 1))
if [ ! -s offered ] || grep -q -E '\b(0004|0005|000a|c007|c008|c011|c012)\b' offered; then
    failures=$((failures + 1))
    echo "FAILED: suites with RC4 or 3DES were offered, or none at all: $(cat offered)"
fi

# C-233, C-234: certificates.
serve sha1 -cipher 'DEFAULT:@SECLEVEL=0'
list ''
expect leaf-hash 'SHA-1'
exception "$no_secrecy"
expect leaf-hash 'SHA-1, forward secrecy excepted'
for case in belowweak/weak belowselfissued/selfissued; do
    serve "${case%/*}" -cert_chain "${case#*/}.pem" -cipher 'DEFAULT:@SECLEVEL=0'
    list ''
    expect chain-hash "an intermediate certificate signed with SHA-1 (${case#*/})"
    exception "$no_secrecy"
    expect chain-hash "an intermediate certificate signed with SHA-1 (${case#*/}), forward secrecy excepted"
    exception "$insecure"
    expect allowed "an intermediate certificate signed with SHA-1 (${case#*/}), excepted"
done
serve short -cipher 'DEFAULT:@SECLEVEL=0'
list ''
expect key-size 'RSA with 1024 bits'
exception "$insecure"
expect key-size 'RSA with 1024 bits, insecure HTTP excepted'
exception "$no_secrecy"
expect allowed 'RSA with 1024 bits, excepted'
serve belowlittle -cert_chain little.pem -cipher 'DEFAULT:@SECLEVEL=0'
list ''
expect key-size 'an intermediate certificate with RSA of 1024 bits'
exception "$no_secrecy"
expect allowed 'an intermediate certificate with RSA of 1024 bits, excepted'
serve curve -cipher 'DEFAULT:@SECLEVEL=0'
list ''
# No client of BoringSSL offers this curve, so that the server finds nothing in common.
expect cipher-suite 'an elliptic curve with 224 bits'

# Trust has no exception.
for case in 'other host' 'expired expired' 'future expired' 'self trust' 'client trust'; do
    serve "${case% *}"
    list ''
    expect "${case#* }" "${case% *}"
    exception "$insecure$no_secrecy"
    expect "${case#* }" "${case% *}, excepted"
    printf '<plist version="1.0"><dict/></plist>' >list.plist
    expect "${case#* }" "${case% *}, local"
    expect "${case#* }" "${case% *}, an address" "https://127.0.0.1:$port/"
    printf '<plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict><key>NSAllowsArbitraryLoads</key><true/></dict></dict></plist>' >list.plist
    expect "${case#* }" "${case% *}, everything excepted"
done
serve both
list ''
expect allowed 'a certificate for clients and servers'
port=$good
list ''
checks=$((checks + 1))
ats load --plist list.plist --ca stranger.pem "https://localhost:$port/" >output 2>&1
grep -q '^Rule: trust,' output || { echo "FAILED: an unknown authority: $(cat output)"; failures=$((failures + 1)); }

# C-230: plain HTTP, and redirects to it.
cat >plain.py <<'PYTHON'
import http.server, ssl, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(302 if target else 200)
        if target: self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words): pass

target = sys.argv[2] if len(sys.argv) > 2 else None
server = http.server.HTTPServer((sys.argv[3] if len(sys.argv) > 3 else "localhost", 0), Handler)
if sys.argv[1] == "https":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("good.pem", "good.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
# plain SCHEME [TARGET [ADDRESS]]: a server that redirects to a target if there is one; sets `port`.
plain() {
    local line=plain.${#servers[@]}
    mkfifo "$line"
    python3 plain.py "$@" >"$line" &
    servers+=($!)
    read -r port <"$line"
}
plain http
http=http://localhost:$port/
expect insecure-http 'plain HTTP' "$http"
grep -q -- '-1022' output || { echo "FAILED: plain HTTP without Apple's code"; failures=$((failures + 1)); }
exception "$insecure"
expect allowed 'plain HTTP, excepted' "$http"
exception "$no_secrecy"
expect insecure-http 'plain HTTP, forward secrecy excepted' "$http"
# purpose PURPOSE STATUS: loads for that purpose.
purpose() {
    local status=0
    checks=$((checks + 1))
    ats load --plist list.plist --purpose "$1" "$http" >output 2>&1 || status=$?
    [ $status = "$2" ] || { echo "FAILED: plain HTTP for the purpose $1: exit $status: $(tr '\n' ' ' <output)"; failures=$((failures + 1)); }
}
list '<key>NSAllowsArbitraryLoadsForMedia</key><true/>'
expect insecure-http 'plain HTTP, excepted for media' "$http"
purpose general 1; purpose media 0; purpose web-content 1; purpose video 64
list '<key>NSAllowsArbitraryLoadsInWebContent</key><true/>'
purpose media 1; purpose web-content 0
list "<key>NSExceptionDomains</key><dict><key>LocalHost</key><dict>$insecure</dict></dict>"
expect allowed 'plain HTTP, excepted in upper case' "$http"
plain https "$http"
list ''
expect insecure-http 'a redirect to plain HTTP'
exception "$insecure"
expect allowed 'a redirect to plain HTTP, excepted'

# Addresses. A refused address is not connected to, so that this needs no network.
declare_keys() { printf '<plist version="1.0"><dict>%s<key>NSAppTransportSecurity</key><dict>%s</dict></dict></plist>' "${2:-}" "$1" >list.plist; }
block() { echo "<key>NSExceptionDomains</key><dict><key>$1</key><dict>$2</dict></dict>"; }
local_networking='<key>NSAllowsLocalNetworking</key><true/>'
everything='<key>NSAllowsArbitraryLoads</key><true/>'
plain https "http://$internet/"
from_https=https://localhost:$port/
plain http "http://$internet/"
from_http=http://localhost:$port/
for keys in '' "$local_networking" "$local_networking$everything"; do
    declare_keys "$keys"
    for address in $internet 0xcb007107 "[::ffff:$internet]" '[2001:db8::7]' 100.64.0.7; do
        expect insecure-http "plain HTTP to $address ($keys)" "http://$address/"
    done
    expect insecure-http "a redirect from HTTPS to plain HTTP at $internet ($keys)" "$from_https"
    expect insecure-http "a redirect from plain HTTP to $internet ($keys)" "$from_http"
done
declare_keys ''
expect insecure-http "plain HTTP to $nearby" "http://$nearby/"
plain http '' 127.0.0.1
for host in 127.0.0.1 0x7f000001; do expect allowed "plain HTTP to $host" "http://$host:$port/"; done
if [ -n "${TRANSPORT_NETWORK:-}" ]; then
    plain http '' $internet
    far=http://$internet:$port/
    plain http '' $nearby
    near=http://$nearby:$port/
    plain https "$far"
    to_far=https://localhost:$port/
    plain https "$near"
    to_near=https://localhost:$port/
    sdk() { echo "<key>DTSDKName</key><string>$1</string>"; }
    # The Internet, a local network, keys of transport security, keys at the top.
    for row in \
        'insecure-http|insecure-http||' \
        "insecure-http|allowed|$local_networking|" \
        "allowed|allowed|$everything|" \
        "insecure-http|allowed|$local_networking$everything|" \
        "allowed|insecure-http|$(block 203.0.113.0/24 "$insecure")|" \
        "allowed|allowed|$local_networking$(block $internet "$insecure")|" \
        "insecure-http|insecure-http|$local_networking$(block 10.0.0.0/8 '')|" \
        "insecure-http|insecure-http||$(sdk macosx14.0)" \
        "allowed|allowed||$(sdk macosx13.3)"; do
        IFS='|' read -r far_verdict near_verdict keys top <<<"$row"
        declare_keys "$keys" "$top"
        expect "$far_verdict" "plain HTTP to $internet ($keys$top)" "$far"
        expect "$far_verdict" "a redirect to plain HTTP at $internet ($keys$top)" "$to_far"
        expect "$near_verdict" "plain HTTP to $nearby ($keys$top)" "$near"
        expect "$near_verdict" "a redirect to plain HTTP at $nearby ($keys$top)" "$to_near"
    done
    serve public
    far=https://$internet:$port/
    plain https "$far"
    to_far=https://localhost:$port/
    serve public -tls1_1 -cipher 'ALL:@SECLEVEL=0'
    old=https://$internet:$port/
    for keys in '' "$local_networking"; do
        declare_keys "$keys"
        expect allowed "HTTPS at $internet ($keys)" "$far"
        expect allowed "a redirect to HTTPS at $internet ($keys)" "$to_far"
        expect minimum-version "TLS 1.1 at $internet ($keys)" "$old"
    done
    for keys in "$everything" "$(block 203.0.113.0/24 "$(minimum TLSv1.0)")"; do
        declare_keys "$keys"
        expect allowed "TLS 1.1 at $internet ($keys)" "$old"
    done
else
    echo 'open: addresses of the Internet: this test may not make a network here'
fi

# C-235 and C-230: everything, by one key; and programs from before.
printf '<plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict><key>NSAllowsArbitraryLoads</key><true/></dict></dict></plist>' >list.plist
expect allowed 'plain HTTP, everything excepted' "$http"
printf '<plist version="1.0"><dict><key>DTSDKName</key><string>macosx10.10</string></dict></plist>' >list.plist
expect allowed 'plain HTTP from a program for OS X 10.10' "$http"
printf '<plist version="1.0"><dict><key>DTSDKName</key><string>macosx10.11</string></dict></plist>' >list.plist
expect insecure-http 'plain HTTP from a program for OS X 10.11' "$http"

# The property list of an executable: none, one beside it, and one that the command of the manual has embedded.
program() { status=0; ats load --program "$1" "$http" >output 2>&1 || status=$?; decided "$2" "$3"; }
mkdir program
cd program || exit 1
cp /bin/true program
program program allowed 'a program without a property list'
list ''
cp ../list.plist Info.plist
program program insecure-http 'a program with a property list beside it'
if command -v objcopy >/dev/null; then
    grep '^objcopy ' "$manual" >embed
    sh -e embed || { echo "FAILED: the manual's command that embeds a property list"; failures=$((failures + 1)); }
    rm Info.plist
    program program insecure-http 'a program with an embedded property list'
else
    echo 'open: an embedded property list: there is no objcopy here'
fi
cd ..

# Pins.
pin() { openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | openssl base64; }
pins() { list "<key>NSPinnedDomains</key><dict><key>localhost</key><dict><key>$1</key><array><dict><key>SPKI-SHA256-BASE64</key><string>$2</string></dict></array></dict></dict>"; }
port=$good
pins NSPinnedLeafIdentities "$(pin good.pem)"
expect allowed 'a pinned key'
pins NSPinnedLeafIdentities "$(pin other.pem)"
expect pin 'another key than the pinned one'
pins NSPinnedCAIdentities "$(pin ca.pem)"
expect allowed "a pinned authority"
pins NSPinnedCAIdentities "$(pin good.pem)"
expect pin "the server's own key pinned as an authority's"

# A malformed property list is no way around a pin.
for broken in '<string>text</string>' '<dict/>' '<dict><key>NSPinnedLeafIdentities</key><string>text</string></dict>'; do
    list "<key>NSPinnedDomains</key><dict><key>localhost</key>$broken</dict>"
    expect pin "a pinned domain with $broken"
done
pins NSPinnedLeafIdentities "$(pin other.pem)"
sed -i 's/>localhost</>LocalHost</' list.plist
expect pin 'another key than the pinned one of a domain in upper case'
for key in NSPinnedDomains NSExceptionDomains; do
    list "<key>$key</key><string>text</string>"
    checks=$((checks + 1))
    status=0
    ats load --plist list.plist --ca ca.pem "https://localhost:$port/" >output 2>&1 || status=$?
    [ $status = 64 ] && grep -q "$key of the property list is not a dictionary" output ||
        { echo "FAILED: $key that is a string: exit $status: $(cat output)"; failures=$((failures + 1)); }
done

# The matrix: a server with TLS 1.2 fails the set that demands 1.3.
serve good -tls1_2
ats diagnose --json --ca ca.pem "https://localhost:$port/" >matrix.json 2>>output || { echo 'FAILED: diagnose'; failures=$((failures + 1)); }
python3 - <<'PYTHON' || failures=$((failures + 1))
import json
sets = json.load(open("matrix.json"))
failed = [s["set"] for s in sets if not s["passed"]]
assert len(sets) == 16, len(sets)
assert failed == ["minimum TLSv1.3"] * 3, failed
PYTHON

# matrix NAME: the text for the server at `port`, and the exit status where the first set fails, are those on standard input.
matrix() {
    checks=$((checks + 1))
    status=0
    { echo "Loading https://localhost:$port/ under sets of exceptions"; cat; } >expected
    ats diagnose --ca ca.pem "https://localhost:$port/" >output 2>&1 || status=$?
    [ $status = 1 ] && diff expected output && return
    failures=$((failures + 1))
    echo "FAILED: diagnose of $1: exit $status"
}
serve good -tls1_1 -cipher 'ALL:@SECLEVEL=0'
matrix 'a server with TLS 1.1' <<'TEXT'
FAIL  Default ATS: no exceptions (minimum-version)
PASS  Allow all loads: NSAllowsArbitraryLoads
FAIL  TLS exceptions: minimum TLSv1.3 (minimum-version)
FAIL  TLS exceptions: minimum TLSv1.2 (minimum-version)
PASS  TLS exceptions: minimum TLSv1.1
PASS  TLS exceptions: minimum TLSv1.0
FAIL  PFS exception: no forward secrecy (minimum-version)
FAIL  PFS exception and insecure HTTP: no forward secrecy, insecure HTTP (minimum-version)
FAIL  TLS exceptions with PFS off: minimum TLSv1.3 (minimum-version)
FAIL  TLS exceptions with PFS off: minimum TLSv1.2 (minimum-version)
PASS  TLS exceptions with PFS off: minimum TLSv1.1
PASS  TLS exceptions with PFS off: minimum TLSv1.0
FAIL  TLS exceptions with PFS off and insecure HTTP: minimum TLSv1.3 (minimum-version)
FAIL  TLS exceptions with PFS off and insecure HTTP: minimum TLSv1.2 (minimum-version)
PASS  TLS exceptions with PFS off and insecure HTTP: minimum TLSv1.1
PASS  TLS exceptions with PFS off and insecure HTTP: minimum TLSv1.0
TEXT
serve self
sed -n -e 's/^[A-Z]*  /FAIL  /' -e 's/ (minimum-version)$//' -e 's/$/ (trust)/' -e '2,$p' expected >untrusted
matrix 'a server that no exception makes trusted' <untrusted

# A server that cannot be reached.
free_ports; port=$PORT
for verb in load 'diagnose --json' diagnose; do
    checks=$((checks + 1))
    status=0
    ats $verb "https://localhost:$port/" >output 2>&1 || status=$?
    [ $status = 2 ] || { echo "FAILED: $verb of a server that cannot be reached: exit $status"; failures=$((failures + 1)); }
done

# Under another name, the executable of the programs with a network is none of them.
checks=$((checks + 1))
status=0
(exec -a vauban-other "$vauban-ats" "https://localhost:$port/") >output 2>&1 || status=$?
[ $status = 64 ] || { echo "FAILED: a name of no program: exit $status"; failures=$((failures + 1)); }

[ $failures = 0 ] || { echo "$failures of $checks checks failed"; exit 1; }
echo "$checks loads were decided as the table says"
