#!/usr/bin/env bash
# credential-process and kubernetes-credential: real botocore signs requests with what it is given, real kubectl logs in to a server with a
# token and with a client certificate; and what the verbs refuse.
set -u
. Tests/Scripts/lib/command-line.sh
for program in python3 kubectl openssl; do command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }; done
python=
for candidate in python3 /usr/bin/python3; do "$candidate" -c 'import botocore' 2>/dev/null && python=$candidate && break; done
[ -n "$python" ] || { echo 'there is no botocore here'; exit 77; }
export PATH=$VAUBAN_BUILD:$PATH
key=AKIAIOSFODNN7EXAMPLE
secret='wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
# answer KEY: a part of the JSON that was printed.
answer() { python3 -c 'import json, sys; print(eval("json.load(open(sys.argv[1]))" + sys.argv[2]))' "$TMPDIR/out" "$1"; }
gives() { [ "$(answer "$1")" = "$2" ] || { cat "$TMPDIR/out"; fail "$1 is not $2"; }; }

# AWS: an access key whose id is the account.
printf %s "$secret" | vauban set "aws/$key"
expect_status 0 vauban credential-process aws
gives '["Version"]' 1; gives '["AccessKeyId"]' $key; gives '["SecretAccessKey"]' "$secret"; gives '.keys().__len__()' 3
# A temporary one, as `aws sts` prints it, and the printed document as input.
later=$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)
printf '{\n "Credentials": {"AccessKeyId": "ASIAIOSFODNN7EXAMPLE", "SecretAccessKey": "%s", "SessionToken": "to\\/ken==", "Expiration": "%s"}, "more": 1.5\n}\n' "$secret" \
    "$later" | vauban set aws-session/anna
expect_status 0 vauban credential-process aws-session/anna
gives '["AccessKeyId"]' ASIAIOSFODNN7EXAMPLE; gives '["SessionToken"]' to/ken==; gives '["Expiration"]' "$later"
cp "$TMPDIR/out" "$TMPDIR/first"; vauban set aws-session/anna --replace <"$TMPDIR/first"
expect_status 0 vauban credential-process aws-session/anna; cmp "$TMPDIR/first" "$TMPDIR/out" || fail 'the printed document is not accepted as input'
# An invalid one is refused in a sentence, without the secret.
refused() {
    expect_status "$1" vauban credential-process "$3"; expect_text "$2" "$TMPDIR/err"; [ ! -s "$TMPDIR/out" ] || fail "$3 printed something"
    ! grep -qF "$secret" "$TMPDIR/err" || fail 'the message has the secret'
}
bad() { vauban set "bad/$1" --replace; refused 64 "$2" "bad/$1"; }
refused 44 'No item no/such' no/such
printf %s "$secret" | vauban set bad/anna; refused 64 'not an access key ID' bad/anna
printf '{"AccessKeyId": "ASIAIOSFODNN7EXAMPLE", "SecretAccessKey": "%s", "Expiration": "2001-01-01T00:00:00Z"}' "$secret" | bad expired 'expired at 2001-01-01T00:00:00Z'
printf '{"AccessKeyId": "ASIAIOSFODNN7EXAMPLE", "SecretAccessKey": "%s", "Expiration": "tomorrow"}' "$secret" | bad date 'not a date'
printf '{"AccessKeyId": "ASIAIOSFODNN7EXAMPLE"}' | bad half 'lacks AccessKeyId or SecretAccessKey'
printf '{"AccessKeyId": "ASIAIOSFODNN7EXAMPLE", "SecretAccessKey": "%s"' "$secret" | bad cut 'not valid JSON'
printf '\377\376' | vauban set bad/AKIAIOSFODNN7EXAMPLF; refused 64 'not text' bad/AKIAIOSFODNN7EXAMPLF
expect_status 64 vauban credential-process bad; expect_text 'More than one item matches' "$TMPDIR/err"
expect_status 64 vauban credential-process

# botocore accepts it and signs with it.
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE
export AWS_CONFIG_FILE=$TMPDIR/aws-config AWS_SHARED_CREDENTIALS_FILE=$TMPDIR/none AWS_EC2_METADATA_DISABLED=true
printf '[default]\ncredential_process = vauban credential-process aws\n[profile session]\ncredential_process = vauban credential-process aws-session/anna\n[profile expired]\ncredential_process = vauban credential-process bad/expired\n' >"$AWS_CONFIG_FILE"
"$python" - "$key" "$secret" <<'PY' || fail 'botocore does not take it'
import sys
import botocore.session, botocore.exceptions
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
key, secret = sys.argv[1:]
got = botocore.session.Session().get_credentials()
assert (got.access_key, got.secret_key, got.token, got.method) == (key, secret, None, "custom-process"), got.method
def signed(credentials):
    request = AWSRequest("GET", "https://sts.amazonaws.com/", headers={"X-Amz-Date": "x"})
    request.context["timestamp"] = "20260101T000000Z"
    signer = SigV4Auth(credentials.get_frozen_credentials(), "sts", "us-east-1")
    return signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
assert signed(got) == signed(Credentials(key, secret))
session = botocore.session.Session(profile="session").get_credentials()
assert session.get_frozen_credentials().token == "to/ken==" and session.access_key.startswith("ASIA")
try: botocore.session.Session(profile="expired").get_credentials(); sys.exit("an expired key was given")
except botocore.exceptions.CredentialRetrievalError as error: assert "expired at" in str(error), error
PY

# kubectl: a server that requires a token or a client certificate, and reports which it received.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$TMPDIR/server.key" -out "$TMPDIR/server.pem" -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail 'openssl makes no certificate'
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$TMPDIR/client.key" -out "$TMPDIR/client.pem" -subj /CN=anna 2>/dev/null
cat >"$TMPDIR/server.py" <<'PY'
import http.server, json, ssl, sys
folder = sys.argv[1]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        peer = dict(part[0] for part in (self.connection.getpeercert() or {}).get("subject", []))
        open(folder + "/asked", "a").write(f"{self.headers.get('Authorization')} {peer.get('commonName')}\n")
        allowed = self.headers.get("Authorization") == "Bearer a.token-of.anna" or peer.get("commonName") == "anna"
        body = json.dumps({"major": "1", "minor": "32", "gitVersion": "v1.32.0"} if allowed else {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Unauthorized", "message": "Unauthorized", "code": 401}).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder + "/server.pem", folder + "/server.key")
context.load_verify_locations(folder + "/client.pem")
context.verify_mode = ssl.CERT_OPTIONAL
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
PY
exec 8< <(exec python3 "$TMPDIR/server.py" "$TMPDIR")
server_pid=$!
trap 'kill $server_pid 2>/dev/null; vauban stop >/dev/null 2>&1' EXIT
read -r -t "$hang_seconds" port <&8 || fail 'the server does not start'
# Debian 12's kubectl supports only v1beta1.
newest=$(kubectl version --client -o json | python3 -c 'import json, sys; print("v1" if int(json.load(sys.stdin)["clientVersion"]["minor"].rstrip("+")) >= 22 else "v1beta1")')
export KUBECONFIG=$TMPDIR/kubeconfig
# user NAME ITEM VERSION: a user of kubectl whose credential is the item.
users=
contexts=
user() {
    users="$users{name: $1, user: {exec: {apiVersion: client.authentication.k8s.io/$3, command: $VAUBAN_BUILD/vauban, args: [kubernetes-credential, $2], interactiveMode: Never, provideClusterInfo: true}}}, "
    contexts="$contexts{name: $1, context: {cluster: test, user: $1}}, "
    printf 'apiVersion: v1\nkind: Config\nclusters: [{name: test, cluster: {server: "https://127.0.0.1:%s", certificate-authority: "%s"}}]\nusers: [%s]\ncontexts: [%s]\n' \
        "$port" "$TMPDIR/server.pem" "$users" "$contexts" >"$KUBECONFIG"
}
logs_in() { kubectl --context "$1" get --raw /version >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null || { cat "$TMPDIR/out" "$TMPDIR/err"; fail "kubectl does not log in as $1"; }; }
printf 'a.token-of.anna\n' | vauban set k8s/anna --keep-newline
cat "$TMPDIR/client.pem" "$TMPDIR/client.key" | vauban set k8s/certificate --keep-newline
user anna k8s/anna "$newest"; user certificate k8s/certificate "$newest"; user none k8s/none "$newest"; user beta k8s/anna v1beta1
logs_in anna; expect_text 'v1.32.0' "$TMPDIR/out"
tail -n 1 "$TMPDIR/asked" | grep -qx 'Bearer a.token-of.anna None' || fail 'the token did not arrive'
logs_in certificate; tail -n 1 "$TMPDIR/asked" | grep -qx 'None anna' || fail 'the certificate did not arrive'
logs_in beta
kubectl --context none get --raw /version >"$TMPDIR/out" 2>&1 </dev/null && fail 'kubectl logs in with no item'
expect_text 'No item k8s/none' "$TMPDIR/out"
! grep -rqF a.token-of.anna "$KUBECONFIG" || fail 'the token is in the configuration'

# The answer is in the requested version; an invalid one is refused.
asks() { KUBERNETES_EXEC_INFO=$1 expect_status "$2" vauban kubernetes-credential "$3"; }
asks '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{"interactive":false}}' 0 k8s/anna
gives '["apiVersion"]' client.authentication.k8s.io/v1beta1; gives '["kind"]' ExecCredential; gives '["status"]["token"]' a.token-of.anna
asks '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}' 0 k8s/certificate
gives '["status"]["clientKeyData"].startswith("-----BEGIN PRIVATE KEY-----")' True; gives '["status"].get("token")' None
asks '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1alpha1"}' 64 k8s/anna; expect_text 'apiVersion: client.authentication.k8s.io/v1' "$TMPDIR/err"
for info in '' '[]' '{' '{"kind":"Pod","apiVersion":"v1"}' '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"} {}'; do
    asks "$info" 64 k8s/anna; expect_text KUBERNETES_EXEC_INFO "$TMPDIR/err"
done
for value in 'two words' '' '-----BEGIN CERTIFICATE-----' "$(cat "$TMPDIR/client.pem")" "$(cat "$TMPDIR/client.key")" \
    "$(cat "$TMPDIR/client.key" "$TMPDIR/server.key" "$TMPDIR/client.pem")"; do
    printf %s "$value" | vauban set k8s/bad --replace --empty 2>/dev/null; expect_status 64 vauban kubernetes-credential k8s/bad
    [ ! -s "$TMPDIR/out" ] || fail 'something was printed'
done
unset KUBERNETES_EXEC_INFO; expect_status 0 vauban kubernetes-credential k8s/anna; gives '["apiVersion"]' client.authentication.k8s.io/v1

# An item that requires the user is refused without a prompt agent, and returned with the passcode; the verb does not wait for a locked keychain.
set_passcode
printf %s "$secret" | vauban set asks/AKIAIOSFODNN7EXAMPLE --require presence
expect_status 36 vauban credential-process asks --no-input
printf '%s\n' "$passcode" >"$TMPDIR/passcode"
expect_status 0 vauban credential-process asks --passcode-fd 9 9<"$TMPDIR/passcode"; gives '["SecretAccessKey"]' "$secret"
vauban lock 2>/dev/null
expect_status 36 detached credential-process aws
not_kept "$secret"
echo "botocore and kubectl $(kubectl version --client 2>/dev/null | sed -n 's/^Client Version: //p') take their credentials from here"
