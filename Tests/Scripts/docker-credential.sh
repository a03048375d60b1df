#!/usr/bin/env bash
# docker-credential-vauban: real skopeo, podman and docker log in to a local registry, use it and log out; and the helper's protocol by itself,
# its error texts and its limits. Without podman or docker the rest is tested, and the test counts as not run.
set -u
. Tests/Scripts/lib/command-line.sh
. Tests/Scripts/lib/free-ports.sh
for program in skopeo docker-registry python3 openssl; do
    command -v $program >/dev/null || { echo "there is no $program here"; exit 77; }
done
mkdir "$TMPDIR/bin"
ln -sfn "$VAUBAN_BUILD/vauban" "$TMPDIR/bin/docker-credential-vauban"
PATH=$TMPDIR/bin:$PATH
unset XDG_CONFIG_HOME XDG_RUNTIME_DIR REGISTRY_AUTH_FILE DOCKER_CONFIG DOCKER_HOST DOCKER_CONTEXT
helper() { printf "$2" | "${@:3}" docker-credential-vauban "$1" >"$TMPDIR/out" 2>"$TMPDIR/err"; }
# says STATUS TEXT OPERATION INPUT: the helper ends with this status and prints exactly this on standard output.
says() {
    helper "$3" "$4"; local status=$?
    [ $status = "$1" ] || { cat "$TMPDIR/out" "$TMPDIR/err"; fail "$3 ended with $status, not with $1"; }
    [ "$(cat "$TMPDIR/out")" = "$2" ] || { cat "$TMPDIR/out" "$TMPDIR/err"; fail "$3 did not say: $2"; }
}

# The protocol, byte for byte where docker and podman compare it.
says 0 "docker-credential-vauban (vauban) $(vauban --version)" version ''
says 1 'credentials not found in native keychain' get 'quay.io\n'
says 1 'credentials not found in native keychain' erase quay.io
says 1 'no credentials server URL' get '\n'
says 1 'no credentials server URL' erase ''
says 1 'no credentials server URL' store '{"Username":"anna","Secret":"x"}'
says 1 'no credentials username' store '{"ServerURL":"quay.io","Username":"","Secret":"x"}'
says 1 'docker-credential-vauban: unknown action: dance' dance ''
says 0 '{}' list ''
says 0 '' store '{"ServerURL":"quay.io","Username":"anna","Secret":"a \\\\ \\" \\u00e9\\n"}'
says 0 '{"ServerURL":"quay.io","Username":"anna","Secret":"a \\ \" é\u000a"}' get ' quay.io\n'
says 0 '{"quay.io":"anna"}' list ''
says 1 'credentials not found in native keychain' get quay.io/team
says 0 '' store '{"ServerURL":"quay.io","Username":"bert","Secret":"other"}'
says 0 '{"ServerURL":"quay.io","Username":"bert","Secret":"other"}' get quay.io
says 0 '' store '{"ServerURL":"https://index.docker.io/v1/","Username":"<token>","Secret":"t"}'
docker-credential-vauban list | python3 -c \
    'import json, sys; assert json.load(sys.stdin) == {"quay.io": "bert", "https://index.docker.io/v1/": "<token>"}' || fail 'the list differs'
vauban list >"$TMPDIR/out"; expect_text quay.io/bert "$TMPDIR/out"; grep -q quay.io/anna "$TMPDIR/out" && fail 'the login that was replaced is listed'
vauban undelete quay.io/anna >/dev/null 2>&1 || fail 'the login that was replaced cannot be restored'
says 1 'Several accounts are stored for quay.io; log out, and log in again' get quay.io
says 0 '' erase quay.io
says 1 'credentials not found in native keychain' get quay.io

# An item that git or a user stored for the same host is another item, and stays after a logout.
printf mine | vauban set --server both.example -a anna --protocol https
says 1 'credentials not found in native keychain' get both.example
says 1 'credentials not found in native keychain' erase both.example
says 0 '' store '{"ServerURL":"both.example","Username":"anna","Secret":"of docker"}'
says 0 '' erase both.example
[ "$(vauban get --server both.example --protocol https)" = mine ] || fail 'a logout deleted what is not of docker'

# Input that is not the protocol is refused in a sentence, and is bounded.
for input in '' 'text' '[]' '{"ServerURL":"a","Username":"b"}' '{"ServerURL":"a","Username":"b","Secret":7}' \
    '{"ServerURL":"a\\nb","Username":"b","Secret":"x"}' '{"ServerURL":"a","Username":"b\\u0000","Secret":"x"}' \
        '{"ServerURL":"a","Username":"b","Secret":"x"}{}' '{"ServerURL":"a","ServerURL":"c","Username":"b","Secret":"x"}' '{"ServerURL":"a","Username":"b","Secret":"\377"}'; do
    helper store "$input"; status=$?
    [ $status = 1 ] && [ "$(wc -l <"$TMPDIR/out")" = 1 ] || { cat "$TMPDIR/out" "$TMPDIR/err"; fail "store of $input ended with $status"; }
done
for operation in get store erase; do
    head -c 200000 /dev/zero | tr '\0' x | docker-credential-vauban $operation >"$TMPDIR/out" 2>&1
    [ $? = 1 ] && [ "$(wc -c <"$TMPDIR/out")" -lt 300 ] || fail "the input of $operation is not bounded"
done
says 1 'The registry is not text' get '\377'
head -c 3000 /dev/zero | tr '\0' a | docker-credential-vauban get >"$TMPDIR/out"; expect_text 'at most 2048 bytes' "$TMPDIR/out"
expect_status 0 vauban docker-credential --help; expect_text Example "$TMPDIR/out"
expect_status 64 docker-credential-vauban; expect_text 'USAGE: docker-credential-vauban ' "$TMPDIR/err"
expect_status 0 docker-credential-vauban --version; expect_text 'docker-credential-vauban (vauban)' "$TMPDIR/out"

# Debian's registry, which requires a login.
free_ports; port=$PORT
registry=127.0.0.1:$port
printf 'anna:%s\n' "$(python3 -c 'import crypt; print(crypt.crypt("pa ss\"w", crypt.METHOD_BLOWFISH))' 2>/dev/null)" >"$TMPDIR/htpasswd"
cat >"$TMPDIR/registry.yml" <<YML
version: 0.1
log: {level: error}
storage: {inmemory: {}}
http: {addr: "$registry"}
auth: {htpasswd: {realm: test, path: "$TMPDIR/htpasswd"}}
YML
docker-registry serve "$TMPDIR/registry.yml" >"$TMPDIR/registry.log" 2>&1 &
registry_pid=$!
trap 'kill $registry_pid 2>/dev/null; vauban stop >/dev/null 2>&1' EXIT
until python3 - "$port" <<'PY'
import socket, sys
socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5).close()
PY
do kill -0 $registry_pid 2>/dev/null || { cat "$TMPDIR/registry.log"; fail 'the registry does not start'; }; done 2>/dev/null

# An image to push: one small layer.
mkdir -p "$TMPDIR/image" && python3 - "$TMPDIR/image" <<'PY'
import gzip, hashlib, io, json, os, sys, tarfile
folder = sys.argv[1]
os.makedirs(folder + "/blobs/sha256")
def keep(data):
    digest = hashlib.sha256(data).hexdigest()
    open(f"{folder}/blobs/sha256/{digest}", "wb").write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}
tar = io.BytesIO()
with tarfile.open(fileobj=tar, mode="w") as archive: archive.addfile(tarfile.TarInfo("empty"), io.BytesIO())
layer = {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", **keep(gzip.compress(tar.getvalue(), mtime=0))}
config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar.getvalue()).hexdigest()]}, "config": {}}
config = {"mediaType": "application/vnd.oci.image.config.v1+json", **keep(json.dumps(config).encode())}
manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [layer]}
manifest = {"mediaType": manifest["mediaType"], **keep(json.dumps(manifest).encode()), "annotations": {"org.opencontainers.image.ref.name": "one"}}
json.dump({"schemaVersion": 2, "manifests": [manifest]}, open(folder + "/index.json", "w"))
json.dump({"imageLayoutVersion": "1.0.0"}, open(folder + "/oci-layout", "w"))
PY
printf '{"default": [{"type": "insecureAcceptAnything"}]}' >"$TMPDIR/policy.json"

# no_secret FILE: the file that a client wrote contains no login.
no_secret() { [ ! -e "$1" ] || ! grep -qE 'pa ss|YW5uYTpwYSBzcyJ3|identitytoken' "$1" || { cat "$1"; fail "$1 has the password"; }; }
logged_in() { says 0 "{\"ServerURL\":\"$registry\",\"Username\":\"anna\",\"Secret\":\"pa ss\\\"w\"}" get "$registry"; }
logged_out() { says 1 'credentials not found in native keychain' get "$registry"; }

# skopeo, and podman, which share code: login, push, inspect, logout.
used="skopeo $(skopeo --version | cut -d' ' -f3)"
with_helper() { printf '{"credHelpers": {"%s": "vauban"}}' "$registry" >"$TMPDIR/auth.json"; }
with_helper
missing=
export REGISTRY_AUTH_FILE=$TMPDIR/auth.json
printf wrong | skopeo login --tls-verify=false -u anna --password-stdin "$registry" >"$TMPDIR/out" 2>&1 && fail 'a wrong password logs in'
logged_out
printf 'pa ss"w' | skopeo login --tls-verify=false -u anna --password-stdin "$registry" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'skopeo does not log in'; }
logged_in; no_secret "$REGISTRY_AUTH_FILE"
skopeo --policy "$TMPDIR/policy.json" copy --dest-tls-verify=false "oci:$TMPDIR/image:one" "docker://$registry/team/one:latest" >"$TMPDIR/out" \
    2>&1 || { cat "$TMPDIR/out"; fail 'skopeo does not push'; }
skopeo inspect --tls-verify=false "docker://$registry/team/one:latest" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'skopeo does not read'; }
[ "$(skopeo login --tls-verify=false --get-login "$registry")" = anna ] || fail 'skopeo does not show the user that is logged in'
skopeo logout "$registry" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'skopeo does not log out'; }
logged_out
skopeo inspect --tls-verify=false "docker://$registry/team/one:latest" >"$TMPDIR/out" 2>&1 && fail 'the registry wants no login'
if command -v podman >/dev/null; then
    printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/images"\nrunroot = "%s/running"\n' "$TMPDIR" "$TMPDIR" >"$TMPDIR/storage.conf"
    export CONTAINERS_STORAGE_CONF=$TMPDIR/storage.conf
    used="$used, podman $(podman --version | cut -d' ' -f3)"
    printf 'pa ss"w' | podman login --tls-verify=false -u anna --password-stdin "$registry" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'podman does not log in'; }
    logged_in; no_secret "$REGISTRY_AUTH_FILE"
    [ "$(podman login --get-login "$registry")" = anna ] || fail 'podman does not show the user that is logged in'
    podman logout --all >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'podman does not log out everywhere'; }
    logged_out
    # That removed the helper from its file too.
    with_helper
    printf 'pa ss"w' | podman login --tls-verify=false -u anna --password-stdin "$registry" >"$TMPDIR/out" 2>&1 &&
        podman logout "$registry" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'podman does not log out'; }
    logged_out
else
    missing=' podman'
fi
# docker's client; without a daemon it logs in by itself.
if command -v docker >/dev/null; then
    used="$used, docker $(docker --version | sed 's/^Docker version \([^,]*\).*/\1/')"
    export DOCKER_CONFIG=$TMPDIR/docker DOCKER_HOST=unix://$TMPDIR/no-daemon
    mkdir "$DOCKER_CONFIG"; printf '{"credsStore": "vauban"}' >"$DOCKER_CONFIG/config.json"
    printf wrong | docker login -u anna --password-stdin "$registry" >"$TMPDIR/out" 2>&1 && fail 'a wrong password logs in'
    printf 'pa ss"w' | docker login -u anna --password-stdin "$registry" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'docker does not log in'; }
    logged_in; no_secret "$DOCKER_CONFIG/config.json"
    # With a stored login it needs a daemon to log in, but it finds that login first.
    docker login "$registry" </dev/null >"$TMPDIR/out" 2>&1; expect_text 'existing credentials' "$TMPDIR/out"
    docker logout "$registry" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'docker does not log out'; }
    logged_out
else
    missing="$missing docker"
fi

# An item that requires the user, and a locked keychain: a sentence, and no wait.
set_passcode
with_helper
printf 'pa ss"w' | skopeo login --tls-verify=false -u anna --password-stdin "$registry" >"$TMPDIR/out" 2>&1 || fail 'skopeo does not log in'
no_secret "$REGISTRY_AUTH_FILE"
vauban lock 2>/dev/null
printf '%s' "$registry" | setsid --wait docker-credential-vauban get >"$TMPDIR/out" 2>"$TMPDIR/err"; [ $? = 1 ] || fail 'a locked keychain gave something'
expect_text locked "$TMPDIR/out"
setsid --wait skopeo inspect --tls-verify=false "docker://$registry/team/one:latest" </dev/null >"$TMPDIR/out" 2>&1 && fail 'a locked keychain logs in'
expect_text locked "$TMPDIR/out"
unlock
logged_in
not_kept 'pa ss"w'
[ -z "$missing" ] || { echo "docker's helper keeps the logins of $used; there is no$missing here"; exit 77; }
echo "docker's helper keeps the logins of $used"
