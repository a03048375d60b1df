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
cd "$TMPDIR" || exit 1
servers=()
trap 'for server in "${servers[@]}"; do kill "$server" 2>/dev/null; done' EXIT
failures=0
checks=0

# authority NAME OPTIONS...: a root, in NAME.pem and NAME.key.
authority() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.pem" -days 30 -subj "/CN=$1" "${@:2}" 2>>openssl.log
}
# certificate NAME HOST KEY-OPTIONS -- SIGNING-OPTIONS: signed by the root `ca`.
certificate() {
    local name=$1 host=$2
    shift 2
    local key=()
    while [ "$1" != -- ]; do
        key+=("$1")
        shift
    done
    shift
    openssl req -newkey "${key[@]}" -nodes -keyout "$name.key" -out "$name.csr" -subj "/CN=$host" 2>>openssl.log &&
        printf 'subjectAltName=DNS:%s\nbasicConstraints=CA:FALSE\n' "$host" >"$name.ext" &&
        openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -extfile "$name.ext" -out "$name.pem" "$@" 2>>openssl.log ||
        { cat openssl.log; echo "openssl could not make $name"; exit 1; }
}

authority ca
authority stranger
certificate good localhost rsa:2048 -- -days 20 -sha256
certificate ec localhost ec -pkeyopt ec_paramgen_curve:P-256 -- -days 20 -sha256
certificate sha1 localhost rsa:2048 -- -days 20 -sha1
certificate short localhost rsa:1024 -- -days 20 -sha256
certificate curve localhost ec -pkeyopt ec_paramgen_curve:secp224r1 -- -days 20 -sha256
certificate other other.example rsa:2048 -- -days 20 -sha256
certificate expired localhost rsa:2048 -- -days -1 -sha256
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
    while read -r -t 30 line <&"$output"; do
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
expect() {
    local verdict=$1 what=$2 url=${3:-https://localhost:$port/} status=0
    checks=$((checks + 1))
    ats load --plist list.plist --ca ca.pem "$url" >output 2>&1 || status=$?
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

# C-233, C-234: certificates.
serve sha1 -cipher 'DEFAULT:@SECLEVEL=0'
list ''
expect leaf-hash 'SHA-1'
exception "$no_secrecy"
expect leaf-hash 'SHA-1, forward secrecy excepted'
serve short -cipher 'DEFAULT:@SECLEVEL=0'
list ''
expect key-size 'RSA with 1024 bits'
exception "$insecure"
expect key-size 'RSA with 1024 bits, insecure HTTP excepted'
exception "$no_secrecy"
expect allowed 'RSA with 1024 bits, excepted'
serve curve -cipher 'DEFAULT:@SECLEVEL=0'
list ''
# No client of BoringSSL offers this curve, so that the server finds nothing in common.
expect cipher-suite 'an elliptic curve with 224 bits'

# Trust has no exception.
for case in 'other host' 'expired expired' 'self trust'; do
    serve "${case% *}"
    list ''
    expect "${case#* }" "${case% *}"
    exception "$insecure$no_secrecy"
    ats load --plist list.plist --ca ca.pem "https://localhost:$port/" >output 2>&1 && { echo "FAILED: ${case% *} was allowed by an exception"; failures=$((failures + 1)); }
done
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
server = http.server.HTTPServer(("localhost", 0), Handler)
if sys.argv[1] == "https":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("good.pem", "good.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
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
plain https "$http"
list ''
expect insecure-http 'a redirect to plain HTTP'
exception "$insecure"
expect allowed 'a redirect to plain HTTP, excepted'

# C-235 and C-230: everything, by one key; and programs from before.
printf '<plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict><key>NSAllowsArbitraryLoads</key><true/></dict></dict></plist>' >list.plist
expect allowed 'plain HTTP, everything excepted' "$http"
printf '<plist version="1.0"><dict><key>DTSDKName</key><string>macosx10.10</string></dict></plist>' >list.plist
expect allowed 'plain HTTP from a program for OS X 10.10' "$http"
printf '<plist version="1.0"><dict><key>DTSDKName</key><string>macosx10.11</string></dict></plist>' >list.plist
expect insecure-http 'plain HTTP from a program for OS X 10.11' "$http"

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

[ $failures = 0 ] || { echo "$failures of $checks checks failed"; exit 1; }
echo "$checks loads were decided as the table says"
