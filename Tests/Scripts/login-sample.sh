#!/usr/bin/env bash
# LoginSample of Examples with a finger and a server: real fprintd with a virtual sensor, and an HTTPS server with a private authority that
# checks username, password and token by an implementation of its own.
# proves: C-247 C-248
set -u
# Foundation's sessions trust the system's authorities, so this runs in a mount namespace where that file is the test's.
trusted=/etc/ssl/certs/ca-certificates.crt
[ "$(id -u)" = 0 ] && [ -f "$trusted" ] || { echo "only root can replace $trusted for this test"; exit 77; }
if [ -z "${VAUBAN_TEST_TRUSTED:-}" ]; then
    . Tests/Scripts/lib/own-mounts.sh
    # shellcheck disable=SC2086
    unshare $own_mounts true 2>/dev/null || { echo 'there are no mount namespaces here'; exit 77; }
    : >"$TMPDIR/trusted.pem"
    # shellcheck disable=SC2086
    VAUBAN_TEST_TRUSTED=$TMPDIR/trusted.pem exec unshare $own_mounts bash -c 'mount --bind "$VAUBAN_TEST_TRUSTED" "$1" && exec "$0"' "$0" "$trusted"
fi
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/own-bus.sh
. Tests/Scripts/lib/own-fprintd.sh
[ -x "$VAUBAN_BUILD/LoginSample" ] || { echo 'LoginSample is not built'; exit 77; }
for tool in openssl python3; do command -v "$tool" >/dev/null || { echo "there is no $tool here"; exit 77; }; done
server_pid=
trap 'vauban stop >/dev/null 2>&1; stop_fingers; stop_logind; stop_bus; [ -z "$server_pid" ] || kill $server_pid' EXIT
export VAUBAN_TEST_READER_BUS=$bus_address VAUBAN_TEST_BUS_OWNER=$(id -u)
sample() { "$VAUBAN_BUILD/LoginSample" "$@"; }

# An authority, the server's certificate from it, and another authority unrelated to both.
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$TMPDIR/$1.key" -out "$TMPDIR/$1.pem" -subj "/CN=$1" \
        -addext keyUsage=critical,keyCertSign 2>/dev/null || fail 'openssl creates no authority'
}
authority authority
authority stranger
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$TMPDIR/server.key" -out "$TMPDIR/server.csr" -subj /CN=localhost 2>/dev/null &&
    openssl x509 -req -in "$TMPDIR/server.csr" -CA "$TMPDIR/authority.pem" -CAkey "$TMPDIR/authority.key" -CAcreateserial -out "$TMPDIR/server.pem" \
        -extfile <(printf 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n') 2>/dev/null || fail 'openssl creates no certificate'
cat >"$TMPDIR/server.py" <<'PY'
import base64, hashlib, hmac, http.server, json, ssl, struct, sys, time
folder, port = sys.argv[1], int(sys.argv[2])
key = base64.b32decode("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
def token(step):
    code = hmac.new(key, struct.pack(">Q", step), hashlib.sha1).digest()
    return "%06d" % ((struct.unpack(">I", code[code[-1] & 15:][:4])[0] & 0x7fffffff) % 1000000)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        step = int(time.time()) // 30
        password = open(folder + "/password").read()
        good = body["username"] == "anna" and body["password"] == password and body["token"] in [token(step + n) for n in (-1, 0, 1)]
        status = {"/login": 200 if good else 401, "/moved": 307, "/broken": 500}.get(self.path, 404)
        open(folder + "/asked", "a").write(f"{self.path} {sorted(body)} {status}\n")
        self.send_response(status)
        if status == 307: self.send_header("Location", "/login")
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder + "/server.pem", folder + "/server.key")
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_port, flush=True)
server.serve_forever()
PY
printf 'pässword 1' >"$TMPDIR/password"
: >"$TMPDIR/asked"
exec 8< <(exec python3 "$TMPDIR/server.py" "$TMPDIR" 0 2>"$TMPDIR/server.log")
server_pid=$!
read -r -t "$hang_seconds" port <&8 || fail 'the server does not start'
address=https://localhost:$port
# trusts AUTHORITY: in place, since the mount is of this file.
trusts() { cat "$TMPDIR/$1.pem" >"$VAUBAN_TEST_TRUSTED"; }
trusts authority

touches=$TMPDIR/bus/touches
printf '#!/bin/sh\nexec /usr/bin/python3 "%s/bus/own-fprintd.py" "%s" "%s" "$@" >>"%s/touched" 2>&1\n' "$TMPDIR" "$bus_address" "$sensor" "$TMPDIR" >"$touches"
chmod 755 "$touches"
# signs_in WHAT STATUS TEXT PATH: signs in at a terminal, with the steps on standard input.
signs_in() {
    sed "s|^touch |run $touches touch |" >"$TMPDIR/steps"
    play "$VAUBAN_BUILD/vauban" approve -- "$VAUBAN_BUILD/LoginSample" login "$address$4" anna <"$TMPDIR/steps" >"$TMPDIR/out" 2>"$TMPDIR/err"
    [ $? = "$2" ] || { cat "$TMPDIR/out" "$TMPDIR/err" "$TMPDIR/touched" "$VAUBAN_HOME/vauban.log"; fail "$1"; }
    expect_text "$3" "$TMPDIR/out"
    echo "ok: $1"
}
# asked LINES: the server received this many requests.
asked() { [ "$(wc -l <"$TMPDIR/asked")" = "$1" ] || { cat "$TMPDIR/asked"; fail "the server was not asked $1 times"; }; }
enrolls() {
    printf '%s\n%s\n' "$1" 'otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example' |
        sample enroll anna >"$TMPDIR/out" || { cat "$TMPDIR/out"; fail 'nothing was stored'; }
}
shown() { vauban status >"$TMPDIR/status" 2>/dev/null && grep -qF -- "$1" "$TMPDIR/status"; }
awaits() {
    eventually shown "$2" && return
    cat "$TMPDIR/status"
    fail "$1"
}

start_bus
start_logind "$(id -u)"
start_polkit
start_fprintd
set_passcode
awaits 'fprintd came' 'reader available; no finger enrolled'
enrolls 'pässword 1'
signs_in 'without a finger the passcode does' 0 'Signed in as anna.' /login <<STEPS
expect Message:  “sign in as anna”
expect Passcode (
secret $passcode
STEPS
asked 1
: >"$TMPDIR/asked"
"$touches" touch 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' 'SCAN alice' &
touching=$!
expect_status 0 vauban finger enroll --passcode-fd 0 <<<"$passcode"
wait "$touching" || { cat "$TMPDIR/touched"; fail 'the touches did not end'; }

expect_status 64 sample enroll anna <<<$'password\notpauth://hotp/x?secret=JBSWY3DP'
expect_status 64 sample login "http://localhost:$port/login" anna
enrolls 'pässword 1'
signs_in 'after a touch the server accepts password and token' 0 'Signed in as anna.' /login <<STEPS
expect Program:  LoginSample
expect Message:  “sign in as anna”
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
asked 1
expect_text "/login ['password', 'token', 'username'] 200" "$TMPDIR/asked"

signs_in 'who cancels does not sign in, and loses nothing' 1 'Not authenticated, -2' /login <<STEPS
expect Touch the fingerprint reader
key ctrl-c
STEPS
asked 1
signs_in 'a server that cannot decide is no reason to delete' 1 'are kept: the server answered 500' /broken <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
signs_in 'credentials do not follow a redirection' 1 'are kept: the server answered 307' /moved <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
asked 3
trusts stranger
signs_in 'a server with the certificate of a stranger gets nothing' 1 'are kept' /login <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
asked 3
trusts authority
signs_in 'all is still there' 0 'Signed in as anna.' /login <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS

printf 'pässword 2' >"$TMPDIR/password"
signs_in 'what the server rejects is deleted' 1 'The stored password and secret were deleted, since the server rejected them.' /login <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
asked 5
signs_in 'and gone' 1 'There is no password. Status code -25300' /login <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
enrolls 'pässword 2'
signs_in 'typed again, it signs in' 0 'Signed in as anna.' /login <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
asked 6

signs_in 'a wrong finger deletes both' 1 'The stored password and secret were deleted, since authentication failed, -1' /login <<STEPS
expect Touch the fingerprint reader
touch 'SCAN bob' 'SCAN bob' 'SCAN bob'
absent Passcode (
STEPS
signs_in 'and the right finger finds nothing' 1 'There is no password. Status code -25300' /login <<STEPS
expect Touch the fingerprint reader
touch 'SCAN alice'
STEPS
asked 6
grep -rlaF 'pässword' "$VAUBAN_HOME" && fail 'a password is on the disk'
echo 'a finger, a password and a token sign in; a wrong finger or the server deletes both items'
