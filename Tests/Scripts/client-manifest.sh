#!/usr/bin/env bash
# An application that depends on Vauban by a URL and a version, as after a release: what it fetches is Vauban, swift-asn1, swift-crypto
# and swift-certificates. The working tree is what is released here, committed or not.
# background: true
set -eu
fail() { echo "$*"; exit 1; }
command -v git >/dev/null || { echo 'there is no git here'; exit 77; }

# No user's configuration applies, such as one that signs commits.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
release=$TMPDIR/vauban
mkdir "$release"
tar -cf - --exclude='.build*' --exclude=./.git --exclude=./Package.resolved . | tar -xf - -C "$release"
git -C "$release" init -q -b main
git -C "$release" add -A
git -C "$release" -c user.name=test -c user.email=test@localhost commit -q -m 'release'
git -C "$release" tag 1.0.0

client=$TMPDIR/client
mkdir -p "$client/Sources/Client"
cat >"$client/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "client",
    dependencies: [.package(url: "file://$release", from: "1.0.0")],
    targets: [
        .executableTarget(
            name: "Client",
            dependencies: [
                .product(name: "VaubanApple", package: "vauban", condition: .when(platforms: [.linux])),
                .product(name: "VaubanKeychain", package: "vauban"),
            ])
    ]
)
MANIFEST
printf 'import LocalAuthentication\nimport Security\nimport VaubanKeychain\n' >"$client/Sources/Client/main.swift"
swift package --package-path "$client" resolve || fail 'the dependency does not resolve'

fetched=$(sed -n 's/.*"identity" : "\(.*\)".*/\1/p' "$client/Package.resolved" | sort | paste -sd ' ')
[ "$fetched" = 'swift-asn1 swift-certificates swift-crypto vauban' ] || fail "an application fetches: $fetched"

# An application that needs rights as publishers requests that, and fetches one more package.
mkdir -p "$TMPDIR/publishers/Sources"
cp -R "$client/Sources/Client" "$TMPDIR/publishers/Sources/"
sed 's|"VaubanKeychain"|"VaubanCombine"|' "$client/Package.swift" >"$TMPDIR/publishers/Package.swift"
VAUBAN_COMBINE=1 swift package --package-path "$TMPDIR/publishers" resolve || fail 'the product with publishers does not resolve'
fetched_too=$(sed -n 's/.*"identity" : "\(.*\)".*/\1/p' "$TMPDIR/publishers/Package.resolved" | sort | paste -sd ' ')
[ "$fetched_too" = 'opencombine swift-asn1 swift-certificates swift-crypto vauban' ] || fail "an application with publishers fetches: $fetched_too"

# A released package must not need flags that SwiftPM refuses in a dependency, which only planning a build shows.
swift build --package-path "$client" --print-manifest-job-graph >"$TMPDIR/plan" 2>&1 || { cat "$TMPDIR/plan"; fail 'the client cannot be planned'; }
grep -q CVaubanLinux "$TMPDIR/plan" || fail 'the plan does not name what is built: the next check would prove nothing'
if grep -qE 'systemd|CVaubanBus' "$TMPDIR/plan"; then fail 'an application would need libsystemd'; fi
# The rooms' filters of system calls are theirs: an application builds without libseccomp.
if grep -m 3 -E 'seccomp|VaubanRoomHardening' "$TMPDIR/plan"; then fail 'an application would need libseccomp'; fi
grep -q 'VaubanLinuxHost' "$TMPDIR/plan" || fail 'the plan names no target of ours: the check would prove nothing'
echo "an application fetches $fetched"
