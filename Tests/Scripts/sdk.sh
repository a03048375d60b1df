#!/usr/bin/env bash
# A package as written for Apple's systems, manifest and sources unchanged, builds with the flags of `vauban sdk flags`, finds the API although it
# imports only Foundation, and stores a secret in the real rooms. Its own tests run in a separate keychain.
# limit: 1800
# background: true
set -u
. Tests/Scripts/lib/command-line.sh
command -v swift >/dev/null && [ -d "$VAUBAN_BUILD/Modules" ] || { echo 'there is no compiler or no build here'; exit 77; }
installed=$TMPDIR/prefix/lib/vauban
scripts/stage --client "$VAUBAN_BUILD" '' "$TMPDIR/prefix" || fail 'nothing was installed'
expect_status 53 "$TMPDIR/prefix/bin/vauban" sdk flags
expect_text 'No modules in' "$TMPDIR/err"; expect_text 'A release has no modules; remove it before' "$TMPDIR/err"
scripts/build-sdk "$TMPDIR/sdk" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'the modules could not be built'; }
# In a checkout they are found where build-sdk puts them.
mkdir -p "$TMPDIR/checkout/.build/triple/release"
cp "$VAUBAN_BUILD/vauban" "$TMPDIR/checkout/.build/triple/release/"
ln -s "$TMPDIR/sdk" "$TMPDIR/checkout/.build/sdk"
"$TMPDIR/checkout/.build/triple/release/vauban" sdk flags >"$TMPDIR/out" || fail 'sdk flags failed in a checkout'
expect_text "$(realpath "$TMPDIR/checkout")/.build/sdk" "$TMPDIR/out"
VAUBAN_SDK=$TMPDIR/sdk scripts/stage --client "$VAUBAN_BUILD" '' "$TMPDIR/prefix" || fail 'the modules were not installed'
rm -r "$TMPDIR/sdk"
grep -qx "$installed/sdk/libVaubanApple.so" "$installed/manifest" || fail 'uninstalling would leave the modules'
[ "$(ls "$installed/sdk" | grep -c '\.swiftmodule$')" = 6 ] || fail 'there are other modules than six'
# An application may have its own swift-crypto; ours must not be visible.
nm -D --defined-only "$installed/sdk/libVaubanApple.so" | grep -qE ' [A-Z] .*(BORINGSSL|\$s6Crypto[A-Z0-9]|\$s9SwiftASN1[A-Z0-9]+V)' && fail 'the library shows what is its own'
flags=$("$TMPDIR/prefix/bin/vauban" sdk flags) || fail 'sdk flags failed'

package=$TMPDIR/wrapper
mkdir -p "$package/Sources/Wrapper" "$package/Sources/tool"
cat >"$package/Package.swift" <<'SWIFT'
// swift-tools-version:5.5
import PackageDescription
let package = Package(
    name: "wrapper", products: [.library(name: "Wrapper", targets: ["Wrapper"])],
    targets: [
        .target(name: "Wrapper"), .executableTarget(name: "tool", dependencies: ["Wrapper"]),
        .testTarget(name: "WrapperTests", dependencies: ["Wrapper"]),
    ])
SWIFT
mkdir -p "$package/Tests/WrapperTests"
cat >"$package/Tests/WrapperTests/WrapperTests.swift" <<'SWIFT'
import CryptoKit
import Security
import Wrapper
import XCTest

final class WrapperTests: XCTestCase {
    func testWhatAsksForTheUserIsAnswered() {
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "wrapper", kSecAttrAccount as String: "guarded",
            kSecAttrAccessControl as String: control as Any, kSecValueData as String: Data("yes".utf8),
        ]
        XCTAssertEqual(SecItemAdd(item as CFDictionary, nil), errSecSuccess)
        XCTAssertEqual(Wrapper().get("guarded"), "yes")
        XCTAssertNil(Wrapper().get("anna"), "the keychain is a new one")
    }

    func testKeysOfTheEnclave() throws {
        let key = try SecureEnclave.P256.Signing.PrivateKey()
        let signature = try key.signature(for: Data("message".utf8))
        XCTAssertTrue(key.publicKey.isValidSignature(signature, for: Data("message".utf8)))
        XCTAssertEqual(SHA256.hash(data: Data()).description.suffix(8), "7852b855")
    }
}
SWIFT
cat >"$package/Sources/Wrapper/Wrapper.swift" <<'SWIFT'
import Foundation
#if canImport(LocalAuthentication)
import LocalAuthentication
#endif

public struct Wrapper {
    public init() {}

    public func set(_ value: String, for account: String) -> OSStatus {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "wrapper", kSecAttrAccount as String: account,
            kSecValueData as String: Data(value.utf8),
        ]
        return SecItemAdd(query as CFDictionary, nil)
    }

    public func get(_ account: String) -> String? {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "wrapper", kSecAttrAccount as String: account,
            kSecReturnData as String: true, kSecMatchLimit as String: kSecMatchLimitOne,
        ]
        var result: AnyObject?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, let data = result as? Data else { return nil }
        return String(data: data, encoding: .utf8)
    }

    public var hasContexts: Bool {
        #if canImport(LocalAuthentication)
        return LAContext().interactionNotAllowed == false
        #else
        return false
        #endif
    }
}
SWIFT
cat >"$package/Sources/tool/main.swift" <<'SWIFT'
import Foundation
import Wrapper

let wrapper = Wrapper()
if CommandLine.arguments.count > 1 {
    print(SecCopyErrorMessageString(wrapper.set("nowhere", for: "anna"), nil) ?? "nothing" as CFString)
    exit(0)
}
print(wrapper.set("kept by the wrapper", for: "anna"), wrapper.set("again", for: "anna") == errSecDuplicateItem, wrapper.get("anna") ?? "nothing", wrapper.hasContexts)
SWIFT
cp -R "$package" "$TMPDIR/as-it-was"
# Without the flags it does not find the API; with them it does.
# shellcheck disable=SC2086
(cd "$package" && swift build $flags) >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'the package does not build'; }
diff -r "$package/Sources" "$TMPDIR/as-it-was/Sources" && diff -r "$package/Tests" "$TMPDIR/as-it-was/Tests" &&
    cmp "$package/Package.swift" "$TMPDIR/as-it-was/Package.swift" || fail 'the package was changed'
vauban status >/dev/null 2>&1
"$package/.build/debug/tool" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'what was built does not run'; }
[ "$(cat "$TMPDIR/out")" = '0 true kept by the wrapper true' ] || { cat "$TMPDIR/out"; fail 'the built program does something else'; }
[ "$(vauban get wrapper/anna)" = 'kept by the wrapper' ] || fail 'the secret is not in the keychain'
# A missing home is named, and not created.
VAUBAN_HOME=$TMPDIR/nowhere "$package/.build/debug/tool" why >"$TMPDIR/out"
expect_text "VAUBAN_HOME names $TMPDIR/nowhere, where there is no keychain; make one there with vauban setup, or unset VAUBAN_HOME" "$TMPDIR/out"
[ ! -e "$TMPDIR/nowhere" ] || fail 'looking for a keychain made one'
# shellcheck disable=SC2086
(cd "$package" && "$VAUBAN_BUILD/vauban" ephemeral --user yes -- swift test $flags) >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out"; fail 'the tests of the package fail'; }
expect_text 'Executed 2 tests, with 0 failures' "$TMPDIR/out"
ldd "$package/.build/debug/tool" | grep -q "$installed/sdk/libVaubanApple.so" || fail 'the program uses another library than the installed one'
echo 'a package without any mention of Vauban builds with the installed modules and stores its secrets here'
