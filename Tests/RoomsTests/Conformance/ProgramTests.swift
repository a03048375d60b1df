import Foundation
import Glibc
import Security
import TestSupport
import Testing

extension AppleNames {
    /// What a program can find out about itself.
    @Suite("Conformance: programs")
    struct ProgramTests {
        private let calls = Calls()

        init() throws { try Conformance.prepare() }

        @Test("A program reads its own access groups") func programReadsItsOwnAccessGroups() throws {
            let task = try #require(SecTaskCreateFromSelf(nil))
            let groups = try #require(SecTaskCopyValueForEntitlement(task, "keychain-access-groups", nil) as? [String])
            calls.add("a")
            let item = calls.find(calls.item("a", [kSecReturnAttributes: true])).result as? [String: Any]
            #expect(groups.first == item?[kSecAttrAccessGroup as String] as? String)
            let several = SecTaskCopyValuesForEntitlements(
                task, ["keychain-access-groups", "com.apple.security.app-sandbox"] as NSArray, nil)
            #expect(several as? [String: [String]] == ["keychain-access-groups": groups])
            var error: Unmanaged<CFError>?
            #expect(SecTaskCopyValueForEntitlement(task, "com.apple.security.app-sandbox", &error) == nil && error == nil)
            // Programs have no identifiers in user mode.
            #expect(SecTaskCopySigningIdentifier(task, &error) == nil && error == nil)
            #expect(CFGetTypeID(task) == SecTaskGetTypeID())
        }

        @Test("An unsigned program is reported as unsigned code") func codeIsNotSigned() throws {
            var code: SecCode?
            #expect(SecCodeCopySelf([], &code) == errSecSuccess)
            #expect(SecCodeCheckValidity(try #require(code), [], nil) == errSecCSUnsigned)
            #expect(SecCodeCreateWithPID(getpid(), [], &code) == errSecSuccess)
            #expect(SecCodeCreateWithPID(-1, [], &code) == errSecCSNoSuchCode)
            #expect(SecCodeCopySelf([], &code) == errSecSuccess)
            var file: SecStaticCode?
            #expect(SecCodeCopyStaticCode(try #require(code), [], &file) == errSecSuccess)
            #expect(SecStaticCodeCheckValidity(try #require(file), [], nil) == errSecCSUnsigned)
            var path: CFURL?
            #expect(SecCodeCopyPath(try #require(file), [], &path) == errSecSuccess)
            var information: CFDictionary?
            #expect(SecCodeCopySigningInformation(try #require(file), [], &information) == errSecSuccess)
            #expect(try #require(information)[kSecCodeInfoMainExecutable] as? NSURL == path && information?[kSecCodeInfoIdentifier] == nil)
            #expect(SecStaticCodeCreateWithPath(NSURL(fileURLWithPath: "/nowhere"), [], &file) == errSecCSStaticCodeNotFound)
        }

        @Test("A certificate finds its private key in the keychain") func aCertificateFindsItsKeyInTheKeychain() throws {
            for kind in [kSecClassCertificate, kSecClassKey] { _ = SecItemDelete([kSecClass: kind] as CFDictionary) }
            let anna = try #require(SecCertificateCreateWithData(nil, try Conformance.certificate("anna.der") as CFData))
            var identity: SecIdentity?
            #expect(SecIdentityCreateWithCertificate(nil, anna, &identity) == errSecItemNotFound && identity == nil)
            let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
            let key = try #require(SecKeyCreateWithData(try Conformance.certificate("anna.key") as CFData, attributes as CFDictionary, nil))
            #expect(SecItemAdd([kSecClass: kSecClassKey, kSecValueRef: key] as CFDictionary, nil) == errSecSuccess)
            #expect(SecIdentityCreateWithCertificate(nil, anna, &identity) == errSecSuccess)
            var certificate: SecCertificate?
            #expect(SecIdentityCopyCertificate(try #require(identity), &certificate) == errSecSuccess && certificate == anna)
            #expect(SecIdentityCreate(nil, anna, key) != nil)
            _ = SecItemDelete([kSecClass: kSecClassKey] as CFDictionary)
        }
    }
}
