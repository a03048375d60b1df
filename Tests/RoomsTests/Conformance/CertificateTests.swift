import Foundation
import Security
import TestSupport
import Testing

extension AppleNames {
    /// Certificates, keys, and the identities that they form (Specs/secitem.md, 2.4 … 2.6, 5.1).
    @Suite("Conformance: certificates and identities")
    struct CertificateTests {
        private let calls = Calls()
        private let anna: SecCertificate
        private let authority: SecCertificate
        private let expired: SecCertificate

        init() throws {
            try Conformance.prepare()
            func read(_ name: String) throws -> SecCertificate {
                try #require(SecCertificateCreateWithData(nil, try Conformance.certificate("\(name).der") as CFData))
            }
            anna = try read("anna")
            authority = try read("authority")
            expired = try read("expired")
            // These have no service that separates tests.
            for kind in [kSecClassCertificate, kSecClassKey] { _ = SecItemDelete([kSecClass: kind] as CFDictionary) }
        }

        private func add(_ certificate: SecCertificate, _ more: [CFString: Any] = [:]) -> OSStatus {
            SecItemAdd(([kSecValueRef: certificate] as [CFString: Any]).merging(more) { $1 } as CFDictionary, nil)
        }

        private func certificates(_ query: [CFString: Any]) -> [SecCertificate] {
            let whole: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true]
            return calls.find(whole.merging(query) { $1 }).result as? [SecCertificate] ?? []
        }

        @Test("A certificate returns its properties") func certificateReturnsItsProperties() throws {
            #expect(SecCertificateCopySubjectSummary(anna) as String? == "Anna")
            #expect(SecCertificateCopySubjectSummary(expired) as String? == "Nobody")
            var addresses: CFArray?
            #expect(SecCertificateCopyEmailAddresses(anna, &addresses) == errSecSuccess)
            #expect(addresses as? [String] == ["Anna@Example.com", "anna@example.org"])
            #expect(SecCertificateCopySerialNumberData(anna, nil) as Data? == Data([0x12, 0x34, 0x56, 0x78, 0x90]))
            #expect(SecCertificateCopyData(anna) as Data == (try Conformance.certificate("anna.der")))
            #expect(SecCertificateCreateWithData(nil, Data([1, 2, 3]) as CFData) == nil)
            #expect(SecCertificateCreateWithData(nil, (try Conformance.certificate("anna.der") + Data([0])) as CFData) == nil)
            let issuer = try #require(SecCertificateCopyNormalizedIssuerSequence(anna) as Data?)
            #expect(issuer == SecCertificateCopyNormalizedSubjectSequence(authority) as Data?)
            #expect(issuer.range(of: Data("TEST AUTHORITY".utf8)) != nil)
        }

        @Test("A certificate is found by its attributes", .proves("C-006"))
        func certificateIsFoundByItsAttributes() throws {
            #expect(add(anna) == errSecSuccess)
            #expect(add(anna) == errSecDuplicateItem)
            #expect(add(authority, [kSecAttrLabel: "the authority"]) == errSecSuccess)
            let found = try #require(
                calls.find([kSecClass: kSecClassCertificate, kSecAttrLabel: "Anna", kSecReturnAttributes: true, kSecReturnRef: true]).result
                    as? [String: Any])
            #expect(found["v_Ref"] as? SecCertificate == anna)
            #expect(found["class"] as? String == "cert" && found["ctyp"] as? Int == 3 && found["cenc"] as? Int == 3)
            #expect(found["slnr"] as? Data == Data([0x12, 0x34, 0x56, 0x78, 0x90]))
            #expect(found["pdmn"] as? String == kSecAttrAccessibleAlways as String)
            let hash = try #require(found["pkhh"] as? Data)
            #expect(hash.count == 20)
            for query: [CFString: Any] in [
                [kSecAttrPublicKeyHash: hash], [kSecAttrSubjectKeyID: try #require(found["skid"])],
                [kSecAttrIssuer: try #require(found["issr"])],
                [kSecValueRef: anna],
            ] {
                #expect(certificates(query).contains(anna))
            }
            #expect(certificates([kSecAttrLabel: "the authority"]) == [authority])
            #expect(
                calls.find([kSecClass: kSecClassCertificate, kSecAttrLabel: "Anna", kSecReturnData: true]).result as? Data
                    == SecCertificateCopyData(anna) as Data)
        }

        @Test("A search accepts an issuer or subject in the certificate's form")
        func wholeNames() throws {
            for certificate in [anna, expired] { #expect(add(certificate) == errSecSuccess) }
            #expect(add(authority, [kSecAttrLabel: "the authority"]) == errSecSuccess)
            let subject = try #require(SecCertificateCopyNormalizedSubjectSequence(authority) as Data?)
            let found = try #require(
                calls.find([kSecClass: kSecClassCertificate, kSecAttrLabel: "the authority", kSecReturnAttributes: true]).result
                    as? [String: Any])
            let normalized = try #require(found["subj"] as? Data)
            #expect(subject != normalized && subject.suffix(normalized.count) == normalized)
            // The last is the same name in lower case, as another certificate may have it.
            for written in [normalized, subject, lowercased(subject)] {
                #expect(Set(certificates([kSecAttrIssuer: written])) == [anna, authority])
                #expect(certificates([kSecAttrSubject: written]) == [authority])
            }
            #expect(certificates([kSecAttrIssuer: Data([0x30, 0])]) == [])
            // Also if it is added without its object.
            let described: [CFString: Any] = [
                kSecClass: kSecClassCertificate, kSecAttrSerialNumber: Data([7]), kSecAttrIssuer: lowercased(subject),
            ]
            #expect(SecItemAdd(described as CFDictionary, nil) == errSecSuccess)
            #expect(
                calls.find([kSecClass: kSecClassCertificate, kSecAttrIssuer: normalized, kSecAttrSerialNumber: Data([7])]).status
                    == errSecSuccess)
            #expect(SecItemAdd(described as CFDictionary, nil) == errSecDuplicateItem)
        }

        /// Returns a name in DER in lower case, except for U, the first byte of attribute identifiers.
        private func lowercased(_ name: Data) -> Data { Data(name.map { (0x41...0x5A).contains($0) && $0 != 0x55 ? $0 + 0x20 : $0 }) }

        @Test("Match keys filter certificates") func matchKeysFilterCertificates() throws {
            for certificate in [anna, authority, expired] { #expect(add(certificate) == errSecSuccess) }
            #expect(certificates([:]).count == 3)
            #expect(certificates([kSecMatchEmailAddressIfPresent: "ANNA@example.COM"]) == [anna])
            #expect(certificates([kSecMatchEmailAddressIfPresent: "else@example.com"]) == [])
            #expect(Set(certificates([kSecMatchValidOnDate: Date()])) == [anna, authority])
            #expect(certificates([kSecMatchValidOnDate: Date(timeIntervalSince1970: 1_577_900_000)]) == [expired])
            let issuer = try #require(SecCertificateCopyNormalizedSubjectSequence(authority) as Data?)
            #expect(Set(certificates([kSecMatchIssuers: [issuer]])) == [anna, authority])
            // The limit applies after filtering.
            #expect(
                calls.find([kSecClass: kSecClassCertificate, kSecMatchEmailAddressIfPresent: "anna@example.org", kSecReturnRef: true])
                    .result as? SecCertificate == anna)
            #expect(calls.find([kSecClass: kSecClassCertificate, kSecMatchValidOnDate: "x"]).status == errSecParam)
            #expect(calls.find(calls.item(nil, [kSecMatchIssuers: [issuer]])).status == errSecUnimplemented)
        }

        /// The meaning of a match key depends on the class, which a reference implies too.
        @Test("Match keys filter an item that is named by reference, by its class") func matchKeysFilterReferences() throws {
            for certificate in [anna, expired] { #expect(add(certificate) == errSecSuccess) }
            let ref = try #require(
                calls.find([kSecClass: kSecClassCertificate, kSecAttrLabel: "Nobody", kSecReturnPersistentRef: true]).result as? Data)
            for named in [[kSecValuePersistentRef: ref], [kSecValueRef: expired]] as [[CFString: Any]] {
                func status(_ key: CFString, _ value: Any) -> OSStatus { calls.find(named.merging([key: value]) { $1 }).status }
                #expect(status(kSecMatchValidOnDate, Date()) == errSecItemNotFound)
                #expect(status(kSecMatchValidOnDate, Date(timeIntervalSince1970: 1_577_900_000)) == errSecSuccess)
                #expect(status(kSecMatchEmailAddressIfPresent, "anna@example.org") == errSecItemNotFound)
                #expect(status(kSecMatchIssuers, [SecCertificateCopyNormalizedIssuerSequence(expired) as Any]) == errSecSuccess)
                #expect(status(kSecMatchPolicy, "a policy") == errSecUnimplemented)
            }
        }

        /// Searches do not evaluate trust: a made-up answer would be false, so the key is refused with a message.
        @Test("A search that asks for trust is refused as not supported") func trustOfACertificateIsNotReported() throws {
            #expect(add(anna) == errSecSuccess)
            for kind in [kSecClassCertificate, kSecClassIdentity] as [CFString] {
                #expect(calls.find([kSecClass: kind, kSecMatchPolicy: "a policy"]).status == errSecUnimplemented)
                #expect(calls.find([kSecClass: kind, kSecMatchTrustedOnly: true]).status == errSecUnimplemented)
                #expect((SecCopyErrorMessageString(errSecUnimplemented, nil) as String?)?.contains("do not evaluate trust") == true)
                #expect(calls.find([kSecClass: kind, kSecMatchTrustedOnly: "yes"]).status == errSecParam)
            }
            #expect(calls.find([kSecClass: kSecClassCertificate, kSecMatchTrustedOnly: false]).status == errSecSuccess)
            // For passwords, one is ignored, and the other has no meaning.
            calls.add("a")
            #expect(calls.find(calls.item("a", [kSecMatchTrustedOnly: true])).status == errSecSuccess)
            #expect(calls.find(calls.item("a", [kSecMatchPolicy: "a policy"])).status == errSecUnimplemented)
        }

        @Test("Bytes that are not a certificate are rejected") func bytesThatAreNoCertificateAreRejected() throws {
            let junk: [CFString: Any] = [
                kSecClass: kSecClassCertificate, kSecAttrSerialNumber: Data([1]), kSecValueData: Data("no certificate".utf8),
            ]
            #expect(SecItemAdd(junk as CFDictionary, nil) == errSecDecode)
            #expect(calls.find([kSecClass: kSecClassCertificate]).status == errSecItemNotFound)
            // Without a value there are attributes, but no certificate.
            let empty: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecAttrSerialNumber: Data([1])]
            #expect(SecItemAdd(empty.merging([kSecReturnRef: true]) { $1 } as CFDictionary, nil) == errSecDecode)
            #expect(SecItemAdd(empty as CFDictionary, nil) == errSecSuccess)
            let one = calls.find([kSecClass: kSecClassCertificate, kSecReturnRef: true])
            #expect(one.status == errSecDecode && one.result == nil)
            #expect((SecCopyErrorMessageString(errSecDecode, nil) as String?)?.contains("certificate") == true)
            #expect(
                calls.find([kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true]).status == errSecDecode
            )
            #expect(calls.find([kSecClass: kSecClassCertificate, kSecReturnAttributes: true]).status == errSecSuccess)
            // Among others it is omitted.
            #expect(add(anna) == errSecSuccess)
            #expect(certificates([:]) == [anna])
            #expect(
                calls.update([kSecClass: kSecClassCertificate, kSecAttrLabel: "Anna"], [kSecValueData: Data([0x30, 0])]) == errSecDecode)
            #expect(certificates([:]) == [anna])
        }

        @Test("A search by host finds the host and its subdomains") func hostsMatchThemselvesAndTheirSubdomains() {
            for server in ["example.com", "www.example.com", "badexample.com"] {
                let item: [CFString: Any] = [
                    kSecClass: kSecClassInternetPassword, kSecAttrServer: server, kSecAttrAccount: calls.service,
                    kSecValueData: Data(server.utf8),
                ]
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            }
            func found(_ host: String) -> Set<String> {
                let query: [CFString: Any] = [
                    kSecClass: kSecClassInternetPassword, kSecAttrAccount: calls.service, kSecMatchHostOrSubdomainOfHost: host,
                    kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
                ]
                return Set((calls.find(query).result as? [Data] ?? []).map { String(decoding: $0, as: UTF8.self) })
            }
            #expect(found("example.com") == ["example.com", "www.example.com"])
            #expect(found("www.example.com") == ["www.example.com"])
            #expect(found("com") == ["example.com", "www.example.com", "badexample.com"])
            #expect(found("org") == [])
            #expect(calls.find(calls.item(nil, [kSecMatchHostOrSubdomainOfHost: "x"])).status == errSecUnimplemented)
        }

        /// Adds Anna's private key, as its owner would.
        private func addKey(_ more: [CFString: Any] = [:]) throws -> OSStatus {
            let hash = try #require(
                (calls.find([kSecClass: kSecClassCertificate, kSecAttrLabel: "Anna", kSecReturnAttributes: true]).result
                    as? [String: Any])?["pkhh"] as? Data)
            let key: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeySizeInBits: 256, kSecAttrApplicationLabel: hash,
                kSecValueData: try Conformance.certificate("anna.key"),
            ]
            return SecItemAdd(key.merging(more) { $1 } as CFDictionary, nil)
        }

        @Test("An identity is a certificate whose private key is in the keychain", .proves("C-006"))
        func anIdentityIsACertificateWithItsKey() throws {
            let identities: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll]
            #expect(add(anna) == errSecSuccess)
            #expect(add(authority) == errSecSuccess)
            #expect(calls.find(identities).status == errSecItemNotFound)
            #expect(try addKey([kSecAttrApplicationTag: "tag"]) == errSecSuccess)
            #expect(try addKey([kSecAttrApplicationTag: "tag"]) == errSecDuplicateItem)
            let found = try #require(calls.find(identities).result as? [SecIdentity])
            #expect(found.count == 1)
            var certificate: SecCertificate?
            #expect(SecIdentityCopyCertificate(found[0], &certificate) == errSecSuccess && certificate == anna)
            var key: SecKey?
            #expect(SecIdentityCopyPrivateKey(found[0], &key) == errSecSuccess && key != nil)
            // It has the attributes of both parts, including those that the key was added without.
            let attributes = calls.find([kSecClass: kSecClassIdentity, kSecReturnAttributes: true]).result as? [String: Any]
            #expect(attributes?["atag"] as? String == "tag" && attributes?["ctyp"] as? Int == 3 && attributes?["crtr"] as? Int == 0)
            // Attributes of both parts find it; unknown ones are refused.
            #expect(calls.find(identities.merging([kSecAttrLabel: "Anna", kSecAttrApplicationTag: "tag"]) { $1 }).status == errSecSuccess)
            #expect(calls.find(identities.merging([kSecAttrLabel: "else"]) { $1 }).status == errSecItemNotFound)
            #expect(calls.find(identities.merging([kSecAttrService: "s"]) { $1 }).status == errSecNoSuchAttr)
            // Its reference identifies the certificate, as an identity.
            let ref = try #require(calls.find([kSecClass: kSecClassIdentity, kSecReturnPersistentRef: true]).result as? Data)
            #expect(ref.prefix(4) == Data("idnt".utf8))
            #expect((calls.find([kSecValuePersistentRef: ref, kSecReturnRef: true]).result as? SecIdentity) == found[0])
            // Deleting it removes both, and leaves the authority.
            #expect(SecItemDelete([kSecValueRef: found[0]] as CFDictionary) == errSecSuccess)
            #expect(calls.find([kSecClass: kSecClassKey]).status == errSecItemNotFound)
            #expect(certificates([:]) == [authority])
            // The object is added as an identity again.
            #expect(SecItemAdd([kSecValueRef: found[0]] as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemAdd([kSecValueRef: found[0]] as CFDictionary, nil) == errSecDuplicateItem)
            #expect(calls.find(identities).result as? [SecIdentity] == found)
        }

        /// A search narrowed by a match key opens only the keys of matching certificates.
        @Test("A search for identities opens only the keys of matching certificates") func identitySearchOpensOnlyMatchingKeys() throws {
            let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            #expect(add(anna) == errSecSuccess)
            #expect(add(authority) == errSecSuccess)
            #expect(try addKey() == errSecSuccess)
            let found =
                calls.find([kSecClass: kSecClassCertificate, kSecValueRef: authority, kSecReturnAttributes: true]).result as? [String: Any]
            #expect(try addKey([kSecAttrApplicationLabel: try #require(found?["pkhh"]), kSecAttrAccessControl: control]) == errSecSuccess)
            func identities(_ more: [CFString: Any]) -> (status: OSStatus, result: AnyObject?) {
                let all: [CFString: Any] = [
                    kSecClass: kSecClassIdentity, kSecMatchLimit: kSecMatchLimitAll, kSecReturnRef: true,
                    kSecUseAuthenticationUI: kSecUseAuthenticationUIFail,
                ]
                return calls.find(all.merging(more) { $1 })
            }
            #expect(identities([:]).status == errSecInteractionNotAllowed)
            let annas = try #require(identities([kSecMatchEmailAddressIfPresent: "anna@example.org"]).result as? [SecIdentity])
            var certificate: SecCertificate?
            #expect(annas.count == 1 && SecIdentityCopyCertificate(annas[0], &certificate) == errSecSuccess && certificate == anna)
            let ofAnna: [CFString: Any] = [kSecMatchEmailAddressIfPresent: "anna@example.org", kSecMatchLimit: kSecMatchLimitOne]
            #expect(identities(ofAnna).result as? SecIdentity == annas[0])
            #expect(identities(ofAnna.merging([kSecReturnRef: false, kSecReturnAttributes: true]) { $1 }).result is [String: Any])
            #expect(identities(ofAnna.merging([kSecAttrLabel: "else"]) { $1 }).status == errSecItemNotFound)
            #expect(identities(ofAnna.merging([kSecAttrService: "s"]) { $1 }).status == errSecNoSuchAttr)
            let issuer = try #require(SecCertificateCopyNormalizedSubjectSequence(authority) as Data?)
            #expect(identities([kSecMatchIssuers: [issuer]]).status == errSecInteractionNotAllowed)
            let skipping: [CFString: Any] = [kSecMatchIssuers: [issuer], kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]
            #expect(identities(skipping).result as? [SecIdentity] == annas)
        }

        /// Adding and deleting a protected identity never prompts, for any return keys.
        @Test("Adding and deleting a protected identity does not prompt") func protectedIdentityIsAddedAndDeletedWithoutAPrompt() throws {
            #expect(add(anna) == errSecSuccess)
            #expect(try addKey() == errSecSuccess)
            let identity = calls.find([kSecClass: kSecClassIdentity, kSecReturnRef: true]).result as? SecIdentity
            let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            let item: [CFString: Any] = [
                kSecValueRef: try #require(identity), kSecAttrAccessControl: control, kSecAttrLabel: "mine", kSecReturnRef: true,
                kSecReturnAttributes: true, kSecReturnPersistentRef: true,
            ]
            func addIdentity() throws -> [String: Any] {
                var result: CFTypeRef?
                #expect(SecItemAdd(item as CFDictionary, &result) == errSecSuccess)
                return try #require(result as? [String: Any])
            }
            // With an existing certificate, with an existing key, and alone.
            #expect(SecItemDelete([kSecClass: kSecClassKey] as CFDictionary) == errSecSuccess)
            let beside = try addIdentity()
            let reference = calls.find([kSecClass: kSecClassCertificate, kSecReturnPersistentRef: true]).result as? Data
            #expect((beside["v_PersistentRef"] as? Data)?.dropFirst(4) == reference?.dropFirst(4))
            #expect(SecItemDelete([kSecClass: kSecClassCertificate] as CFDictionary) == errSecSuccess)
            for result in [beside, try addIdentity()] {
                #expect(result["v_Ref"] as? SecIdentity == identity)
                #expect(
                    result["labl"] as? String == "mine" && result["pkhh"] as? Data == result["klbl"] as? Data
                        && result["pdmn"] as? String == "ak")
                #expect((result["v_PersistentRef"] as? Data)?.prefix(4) == Data("idnt".utf8))
            }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
            #expect(SecItemDelete([kSecValueRef: try #require(identity)] as CFDictionary) == errSecSuccess)
            #expect(calls.find([kSecClass: kSecClassKey]).status == errSecItemNotFound)
            #expect(calls.find([kSecClass: kSecClassCertificate]).status == errSecItemNotFound)
            let whole = try addIdentity()
            #expect(whole["v_Ref"] as? SecIdentity == identity && whole["v_PersistentRef"] is Data)
            #expect(SecItemDelete([kSecValueRef: try #require(identity)] as CFDictionary) == errSecSuccess)
            #expect(SecItemDelete([kSecValueRef: try #require(identity)] as CFDictionary) == errSecItemNotFound)
        }
    }
}
