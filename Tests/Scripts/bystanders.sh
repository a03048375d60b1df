#!/usr/bin/env bash
# limit: 600
# background: true
# Packages that share a build with Vauban and do not depend on it are not affected: `canImport` of Apple's names stays false for them, and they
# build, from scratch and after an edit of each part. A package that depends on the product has the names, scoped and qualified.
set -eu
fail() { echo "$*"; exit 1; }
command -v swift >/dev/null || { echo 'there is no compiler here'; exit 77; }

mkdir "$TMPDIR/vauban"
tar -cf - --exclude='.build*' --exclude=./.git --exclude=./Package.resolved --exclude=./dist . | tar -xf - -C "$TMPDIR/vauban"
graph=$TMPDIR/graph
mkdir -p "$graph/Sources/Bystander" "$graph/Sources/Server" "$graph/Sources/App" "$graph/Sources/Keychain" "$graph/Sources/Enclave"
# An application names its modules as it likes; these two are also names of rooms inside Vauban.
for name in Keychain Enclave; do echo "public let nameOf$name = \"$name\"" >"$graph/Sources/$name/$name.swift"; done
cat >"$graph/Package.swift" <<'SWIFT'
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "graph",
    dependencies: [
        .package(path: "../vauban"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.0"),
        .package(url: "https://github.com/swhitty/FlyingFox.git", from: "0.27.0"),
    ],
    targets: [
        .target(name: "Bystander"),
        .target(name: "Keychain"),
        .target(name: "Enclave"),
        .target(
            name: "Server",
            dependencies: [.product(name: "X509", package: "swift-certificates"), .product(name: "FlyingFox", package: "FlyingFox")]),
        .executableTarget(
            name: "App",
            dependencies: [
                "Bystander", "Server", "Keychain", "Enclave", .product(name: "VaubanApple", package: "vauban", condition: .when(platforms: [.linux])),
                .product(name: "VaubanKeychain", package: "vauban"),
            ]),
    ]
)
SWIFT
cat >"$graph/Sources/Bystander/Bystander.swift" <<'SWIFT'
public func visibleAppleNames() -> [String] {
    var names: [String] = []
    #if canImport(Security)
    names.append("Security")
    #endif
    #if canImport(LocalAuthentication)
    names.append("LocalAuthentication")
    #endif
    #if canImport(CryptoKit)
    names.append("CryptoKit")
    #endif
    return names
}
SWIFT
cat >"$graph/Sources/Server/Server.swift" <<'SWIFT'
import FlyingFox
import X509

public func serverParts() -> String { "\(HTTPServer.self) \(Certificate.self)" }
SWIFT
cat >"$graph/Sources/App/main.swift" <<'SWIFT'
import Bystander
import CryptoKit
import Enclave
import Keychain
import LocalAuthentication
import Security
import Server
import VaubanKeychain

import class LocalAuthentication.LAContext
import func Security.SecItemAdd
import struct CryptoKit.SHA256

#if canImport(Security) && canImport(LocalAuthentication) && canImport(CryptoKit)
let flags: Security.SecAccessControlCreateFlags = .userPresence
let digest = CryptoKit.SHA256.hash(data: [1, 2, 3])
let parts = serverParts()
// No kSecClass: refused before any service is spoken to.
print(SecItemAdd([:] as CFDictionary, nil) == errSecParam, flags.rawValue, Array(digest).count, LAContext().interactionNotAllowed, parts, nameOfKeychain + nameOfEnclave, visibleAppleNames())
#endif
SWIFT

build() { # WHAT [OPTION...]
    what=$1
    shift
    swift build --package-path "$graph" "$@" >"$TMPDIR/out" 2>&1 || { grep -E 'error|warning: unre' "$TMPDIR/out" | head -20; fail "does not build: $what"; }
    printed=$("$graph/.build/debug/App") || fail "does not run: $what"
    [ "$printed" = 'true 1 32 false HTTPServer Certificate KeychainEnclave []' ] || fail "$what: the application prints $printed"
    echo "ok      $what"
}

build 'from nothing'
checkouts=$graph/.build/checkouts
for edited in "$TMPDIR/vauban/Sources/Callers/VaubanSecurity/SecRandom.swift" "$graph/Sources/Bystander/Bystander.swift" \
    "$checkouts/swift-certificates/Sources/X509/Certificate.swift" "$checkouts/FlyingFox/FlyingFox/Sources/HTTPServer.swift" "$graph/Sources/App/main.swift"; do
    chmod u+w "$edited"
    echo '// edited' >>"$edited"
    build "after an edit of ${edited##*/}"
done
# The compiler's products for the names are missing, as after a new toolchain.
rm -rf "$graph"/.build/*/debug/ModuleCache
build 'without the compiled names'
