import Foundation
import Security
import TestSupport
import Testing

/// Trust evaluation of chains that OpenSSL created.
@Suite struct TrustTests {
    private let openssl: OpenSSL
    private let root: SecCertificate
    private let intermediate: SecCertificate
    private static let authority = ["basicConstraints = critical,CA:TRUE", "keyUsage = critical,keyCertSign,cRLSign"]
    private static let server = ["extendedKeyUsage = serverAuth", "keyUsage = critical,digitalSignature"]

    init() throws {
        openssl = try OpenSSL()
        root = try openssl.selfSigned("root", Self.authority)
        intermediate = try openssl.issue("intermediate", by: "root", Self.authority)
    }

    private func trust(_ certificates: [SecCertificate], _ policy: SecPolicy, anchors: [SecCertificate]? = nil) throws -> SecTrust {
        var trust: SecTrust?
        try #require(SecTrustCreateWithCertificates(NSArray(array: certificates), policy, &trust) == errSecSuccess)
        let made = try #require(trust)
        #expect(SecTrustSetAnchorCertificates(made, NSArray(array: anchors ?? [root])) == errSecSuccess)
        return made
    }

    /// Returns the status of the error, 0 if the chain is trusted.
    private func status(_ trust: SecTrust) -> OSStatus {
        var error: CFError?
        let isTrusted = SecTrustEvaluateWithError(trust, &error)
        #expect(isTrusted == (error == nil))
        guard let error else { return errSecSuccess }
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain && error.userInfo[NSUnderlyingErrorKey] is NSError)
        return OSStatus(CFErrorGetCode(error))
    }

    private func result(_ trust: SecTrust) -> SecTrustResultType {
        var result = SecTrustResultType.invalid
        #expect(SecTrustGetTrustResult(trust, &result) == errSecSuccess)
        return result
    }

    private func server(_ name: String, _ more: [String], by authority: String = "intermediate") throws -> SecCertificate {
        try openssl.issue(name, by: authority, Self.server + more)
    }

    @Test("A chain to an anchor is trusted for the certificate's names alone") func chainToAnAnchorIsTrustedForItsNames() throws {
        defer { openssl.remove() }
        let leaf = try server("leaf", ["subjectAltName = DNS:example.com,DNS:*.wild.example,IP:192.0.2.7,IP:2001:db8::7"])
        for (name, expected) in [
            ("example.com", errSecSuccess), ("EXAMPLE.com", errSecSuccess), ("example.com.", errSecSuccess),
            ("a.wild.example", errSecSuccess),
            ("192.0.2.7", errSecSuccess), ("2001:db8::7", errSecSuccess), ("www.example.com", errSecHostNameMismatch),
            ("wild.example", errSecHostNameMismatch), ("a.b.wild.example", errSecHostNameMismatch), ("192.0.2.8", errSecHostNameMismatch),
            ("leaf", errSecHostNameMismatch), ("", errSecHostNameMismatch), ("exämple.com", errSecHostNameMismatch),
        ] {
            let trust = try trust([leaf, intermediate], SecPolicyCreateSSL(true, NSString(string: name)))
            #expect(result(trust) == .invalid)
            #expect(status(trust) == expected, "\(name)")
            #expect(result(trust) == (expected == errSecSuccess ? .unspecified : .recoverableTrustFailure))
        }
        let trust = try trust([leaf, intermediate], SecPolicyCreateSSL(true, nil))
        #expect(status(trust) == errSecSuccess)
        #expect(SecTrustGetCertificateCount(trust) == 3)
        #expect(SecTrustCopyCertificateChain(trust) as? [SecCertificate] == [leaf, intermediate, root])
        #expect(SecTrustCopyKey(trust) == SecCertificateCopyKey(leaf) && SecTrustCopyKey(trust) != nil)
        #expect((SecTrustCopyResult(trust)?[kSecTrustResultValue] as? NSNumber)?.uint32Value == SecTrustResultType.unspecified.rawValue)
    }

    /// The intermediate may come in any order, among unrelated certificates.
    @Test("Unrelated certificates and the order of certificates do not matter") func unrelatedCertificatesAndOrderDoNotMatter() throws {
        defer { openssl.remove() }
        let leaf = try server("leaf", ["subjectAltName = DNS:example.com"])
        let stranger = try openssl.selfSigned("intermediate-of-others", Self.authority)
        let trust = try trust([leaf, stranger, root, intermediate, intermediate], SecPolicyCreateSSL(true, "example.com"))
        #expect(status(trust) == errSecSuccess)
        #expect(SecTrustGetCertificateCount(trust) == 3)
    }

    @Test("Certificates are evaluated for the present time, or for the given date") func datesAreEvaluated() throws {
        defer { openssl.remove() }
        let expired = try openssl.issue("expired", by: "intermediate", Self.server, from: "20200101000000Z", to: "20210101000000Z")
        let early = try openssl.issue("early", by: "intermediate", Self.server, from: "20440101000000Z", to: "20450101000000Z")
        #expect(status(try trust([expired, intermediate], SecPolicyCreateBasicX509())) == errSecCertificateExpired)
        #expect(status(try trust([early, intermediate], SecPolicyCreateBasicX509())) == errSecCertificateNotValidYet)
        let leaf = try server("leaf", [])
        let trust = try trust([leaf, intermediate], SecPolicyCreateBasicX509())
        let date = Date(timeIntervalSince1970: 2_500_000_000)
        #expect(SecTrustSetVerifyDate(trust, date as CFDate) == errSecSuccess)
        #expect(SecTrustGetVerifyTime(trust) == date.timeIntervalSinceReferenceDate)
        #expect(status(trust) == errSecCertificateExpired)
        #expect((SecTrustCopyProperties(trust) as? [[String: String]])?.map { $0["error"] != nil } == [true, true, true])
        for (seconds, expected) in [
            (1e300, errSecCertificateExpired), (.infinity, errSecCertificateExpired), (-1e300, errSecCertificateNotValidYet),
        ] as [(Double, OSStatus)] {
            #expect(SecTrustSetVerifyDate(trust, Date(timeIntervalSinceReferenceDate: seconds) as CFDate) == errSecSuccess)
            #expect(status(trust) == expected, "\(seconds)")
        }
        #expect(SecTrustSetVerifyDate(trust, Date() as CFDate) == errSecSuccess)
        #expect(status(trust) == errSecSuccess)
    }

    @Test("A certificate is trusted only for its uses") func certificateIsTrustedForItsUseOnly() throws {
        defer { openssl.remove() }
        let client = try openssl.issue("client", by: "intermediate", ["extendedKeyUsage = clientAuth", "subjectAltName = DNS:example.com"])
        let open = try openssl.issue("open", by: "intermediate", ["subjectAltName = DNS:example.com"])
        let old = try openssl.issue("old", by: "intermediate", ["subjectAltName = DNS:example.com"], from: "20180101000000Z")
        let server = SecPolicyCreateSSL(true, "example.com")
        for (certificate, policy, expected) in [
            (client, server, errSecInvalidExtendedKeyUsage), (client, SecPolicyCreateSSL(false, nil), errSecSuccess),
            (open, server, errSecInvalidExtendedKeyUsage),
            (open, SecPolicyCreateSSL(false, nil), errSecSuccess), (old, server, errSecSuccess),
            (client, SecPolicyCreateBasicX509(), errSecSuccess),
        ] {
            #expect(status(try trust([certificate, intermediate], policy)) == expected, "\(certificate) \(policy)")
        }
    }

    @Test("Certificates with weak digests or short keys are refused, and no exception helps")
    func weakCertificatesAreRefusedWithoutException() throws {
        defer { openssl.remove() }
        let strong = try openssl.selfSigned("strong", Self.authority, key: "rsa:2048")
        let sha1 = try openssl.issue("sha1", by: "strong", Self.server, digest: "sha1")
        let short = try openssl.issue("short", by: "strong", Self.server, key: "rsa:1024")
        for (certificate, expected) in [(sha1, errSecInvalidDigestAlgorithm), (short, errSecUnsupportedKeySize)] {
            let trust = try trust([certificate], SecPolicyCreateBasicX509(), anchors: [strong])
            #expect(status(trust) == expected)
            #expect(result(trust) == .fatalTrustFailure)
            // No exception helps.
            #expect(SecTrustSetExceptions(trust, SecTrustCopyExceptions(trust)))
            #expect(status(trust) == expected)
        }
    }

    @Test("The name and path length constraints of an authority are enforced") func constraintsOfAuthoritiesAreEnforced() throws {
        defer { openssl.remove() }
        _ = try openssl.issue("narrow", by: "root", Self.authority + ["nameConstraints = critical,permitted;DNS:example.com"])
        let narrow = try openssl.certificate("narrow")
        let inside = try server("inside", ["subjectAltName = DNS:www.example.com"], by: "narrow")
        let outside = try server("outside", ["subjectAltName = DNS:example.org"], by: "narrow")
        #expect(status(try trust([inside, narrow], SecPolicyCreateSSL(true, "www.example.com"))) == errSecSuccess)
        #expect(status(try trust([outside, narrow], SecPolicyCreateSSL(true, "example.org"))) == errSecInvalidName)
        let last = try openssl.issue("last", by: "root", ["basicConstraints = critical,CA:TRUE,pathlen:0"])
        let below = try openssl.issue("below", by: "last", Self.authority)
        #expect(
            status(try trust([try server("deep", [], by: "below"), below, last], SecPolicyCreateBasicX509()))
                == errSecPathLengthConstraintExceeded)
        let none = try openssl.issue("none", by: "root", ["basicConstraints = critical,CA:FALSE"])
        #expect(status(try trust([try server("false", [], by: "none"), none], SecPolicyCreateBasicX509())) == errSecNoBasicConstraintsCA)
        let silent = try openssl.issue("silent", by: "root", [])
        #expect(
            status(try trust([try server("silence", [], by: "silent"), silent], SecPolicyCreateBasicX509())) == errSecNoBasicConstraints)
        let strange = try openssl.issue("strange", by: "root", Self.server + ["1.2.3.4.5 = critical,DER:0500"])
        #expect(status(try trust([strange], SecPolicyCreateBasicX509())) == errSecUnknownCriticalExtensionFlag)
    }

    @Test("An evaluation without an anchor or an issuer fails") func missingAnchorOrIssuerFailsEvaluation() throws {
        defer { openssl.remove() }
        let alone = try openssl.selfSigned(
            "alone", ["subjectAltName=DNS:alone.example", "extendedKeyUsage=serverAuth", "basicConstraints=critical,CA:FALSE"])
        let policy = SecPolicyCreateSSL(true, "alone.example")
        let untrusted = try trust([alone], policy)
        #expect(status(untrusted) == errSecNotTrusted && result(untrusted) == .recoverableTrustFailure)
        #expect(status(try trust([alone], policy, anchors: [alone])) == errSecSuccess)
        let leaf = try server("leaf", ["subjectAltName = DNS:example.com"])
        let named = SecPolicyCreateSSL(true, "example.com")
        let missing = try trust([leaf], named)
        #expect(status(missing) == errSecCreateChainFailed)
        #expect(SecTrustCopyCertificateChain(missing) as? [SecCertificate] == [leaf])
        // The known part of the path is returned, up to its top.
        let other = try trust([leaf, intermediate, root], named, anchors: [alone])
        #expect(status(other) == errSecNotTrusted)
        #expect(SecTrustCopyCertificateChain(other) as? [SecCertificate] == [leaf, intermediate, root])
        // All problems are reported.
        var error: CFError?
        #expect(
            !SecTrustEvaluateWithError(
                try trust([leaf, intermediate, root], SecPolicyCreateSSL(true, "else.example"), anchors: [alone]), &error))
        let words = (error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription ?? ""
        #expect(words.contains("another host") && words.contains("not trusted"))
        #expect(error?.localizedDescription == "“root” is not trusted: no anchor issued it.")
        // A forged certificate with the same names is another certificate.
        let forger = try OpenSSL()
        defer { forger.remove() }
        _ = try forger.selfSigned("root", Self.authority)
        let forged = try forger.issue("leaf", by: "root", Self.server + ["subjectAltName = DNS:example.com"])
        #expect(status(try trust([forged], named)) == errSecCreateChainFailed)
    }

    @Test("The error is the most serious problem in Apple's order") func errorIsTheMostSeriousProblem() throws {
        defer { openssl.remove() }
        let named = SecPolicyCreateSSL(true, "example.com")
        // Without a use and a name: self-signed certificates of test servers often lack both.
        let bare = try openssl.selfSigned("bare", [])
        let other = try openssl.selfSigned("other", ["subjectAltName=DNS:other.example", "extendedKeyUsage=serverAuth"])
        let parted = try server("parted", ["subjectAltName = DNS:other.example"])
        let lapsed = try openssl.issue(
            "lapsed", by: "intermediate", Self.server + ["subjectAltName = DNS:other.example"], from: "20200101000000Z",
            to: "20210101000000Z")
        for (certificates, expected) in [
            ([bare], errSecNotTrusted), ([other], errSecNotTrusted), ([parted], errSecCreateChainFailed),
            ([lapsed, intermediate], errSecHostNameMismatch),
        ] {
            #expect(status(try trust(certificates, named)) == expected, "\(certificates)")
        }
        // Expired and without an anchor.
        let late = try trust([other], SecPolicyCreateSSL(true, "other.example"))
        #expect(SecTrustSetVerifyDate(late, Date(timeIntervalSince1970: 3_000_000_000) as CFDate) == errSecSuccess)
        #expect(status(late) == errSecNotTrusted)
        // Fatal problems come first.
        let strong = try openssl.selfSigned("strong", Self.authority, key: "rsa:2048")
        let sha1 = try openssl.issue("sha1", by: "strong", Self.server, digest: "sha1")
        #expect(status(try trust([sha1, strong], named)) == errSecInvalidDigestAlgorithm)
    }

    @Test("Anchors are the given ones, the system's, or both") func anchorsAreGivenSystemOrBoth() throws {
        defer { openssl.remove() }
        var anchors: CFArray?
        guard SecTrustCopyAnchorCertificates(&anchors) == errSecSuccess, let system = (anchors as? [SecCertificate])?.first(where: isSound)
        else {
            try Test.cancel("this system has no anchors")
        }
        let trust = try trust([system], SecPolicyCreateBasicX509())
        #expect(status(trust) == errSecNotTrusted)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess)
        #expect(status(trust) == errSecSuccess)
        var custom: CFArray?
        #expect(SecTrustCopyCustomAnchorCertificates(trust, &custom) == errSecSuccess && custom as? [SecCertificate] == [root])
        #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
        #expect(SecTrustCopyCustomAnchorCertificates(trust, &custom) == errSecSuccess && custom == nil)
        #expect(status(trust) == errSecSuccess)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
        #expect(status(trust) == errSecNotTrusted)
        #expect(SecTrustSetAnchorCertificates(trust, NSArray(array: ["no certificate"])) == errSecParam)
    }

    private func isSound(_ anchor: SecCertificate) -> Bool {
        guard let end = SecCertificateCopyNotValidAfterDate(anchor) as Date?, SecCertificateCopyKey(anchor) != nil else { return false }
        return end > Date()
    }

    @Test("Exceptions apply to their own certificate alone") func exceptionsApplyToTheirCertificate() throws {
        defer { openssl.remove() }
        let leaf = try openssl.issue("leaf", by: "intermediate", Self.server, from: "20200101000000Z", to: "20210101000000Z")
        let policy = SecPolicyCreateSSL(true, "example.com")
        let first = try trust([leaf, intermediate, root], policy, anchors: [])
        #expect(status(first) == errSecNotTrusted)
        let exceptions = try #require(SecTrustCopyExceptions(first))
        let second = try trust([leaf, intermediate, root], policy, anchors: [])
        #expect(SecTrustSetExceptions(second, exceptions))
        #expect(status(second) == errSecSuccess && result(second) == .proceed)
        #expect(SecTrustSetPolicies(second, SecPolicyCreateSSL(false, nil)) == errSecSuccess)
        #expect(status(second) == errSecInvalidExtendedKeyUsage)
        #expect(!SecTrustSetExceptions(second, nil))
        #expect(status(second) != errSecSuccess)
        let other = try trust([try server("other", []), intermediate, root], policy, anchors: [])
        #expect(!SecTrustSetExceptions(other, exceptions))
        #expect(!SecTrustSetExceptions(first, NSData(data: Data("junk".utf8))))
    }

    @Test("Given OCSP responses decide whether a certificate is revoked") func givenResponsesCount() throws {
        defer { openssl.remove() }
        let named = ["authorityInfoAccess = OCSP;URI:http://ocsp.example/"]
        let good = try openssl.issue("good", by: "root", Self.server + named)
        let bad = try openssl.issue("bad", by: "root", Self.server + named)
        let responder = try openssl.issue("responder", by: "root", ["extendedKeyUsage = OCSPSigning"])
        try #require(SecCertificateCopyKey(responder) != nil)
        try openssl.run("ca", "-config", "configuration", "-cert", "root.pem", "-keyfile", "root.key", "-revoke", "bad.pem")
        func response(_ name: String) throws -> CFData {
            try openssl.run(
                "ocsp", "-index", "index", "-CA", "root.pem", "-rsigner", "responder.pem", "-rkey", "responder.key", "-issuer", "root.pem",
                "-cert", "\(name).pem",
                "-respout", "\(name).ocsp", "-ndays", "2", "-no_nonce")
            return NSData(data: try Data(contentsOf: openssl.path("\(name).ocsp")))
        }
        let revocation = try #require(SecPolicyCreateRevocation(kSecRevocationOCSPMethod | kSecRevocationRequirePositiveResponse))
        let policies = NSArray(array: [SecPolicyCreateSSL(true, nil), revocation])
        for (leaf, name, expected, without) in [
            (good, "good", errSecSuccess, errSecIncompleteCertRevocationCheck),
            (bad, "bad", errSecCertificateRevoked, errSecIncompleteCertRevocationCheck),
        ] {
            let trust = try trust([leaf], SecPolicyCreateBasicX509())
            #expect(SecTrustSetOCSPResponse(trust, try response(name)) == errSecSuccess)
            #expect(status(trust) == expected)
            #expect(SecTrustSetPolicies(trust, policies) == errSecSuccess)
            #expect(status(trust) == expected)
            // A response about another certificate, or a malformed one, is ignored.
            #expect(
                SecTrustSetOCSPResponse(
                    trust, NSArray(array: [try response(name == "good" ? "bad" : "good"), NSData(data: Data([1, 2, 3]))])) == errSecSuccess)
            #expect(status(trust) == without)
            #expect(SecTrustSetOCSPResponse(trust, "no data" as NSString) == errSecParam)
        }
        #expect(SecPolicyCreateRevocation(0) == nil)
    }

    /// Many concurrent evaluations, on the threads of tasks and on those of queues.
    @Test("Concurrent evaluations do not wait for each other", .timeLimit(.minutes(30)))
    func evaluationsDoNotWaitForEachOther() async throws {
        defer { openssl.remove() }
        let leaf = try server("leaf", ["subjectAltName = DNS:example.com"])
        let trust = try trust([leaf, intermediate], SecPolicyCreateSSL(true, "example.com"))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 { group.addTask { SecTrustEvaluateWithError(trust, nil) } }
            for _ in 0..<32 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        let queue = DispatchQueue(label: "evaluation")
                        #expect(
                            SecTrustEvaluateAsyncWithError(trust, queue) { continuation.resume(returning: $1 && $2 == nil) }
                                == errSecSuccess)
                    }
                }
            }
            for await isTrusted in group { #expect(isTrusted) }
        }
    }

    @Test("Objects other than certificates and policies are refused") func otherObjectsAreRefused() throws {
        defer { openssl.remove() }
        var made: SecTrust?
        #expect(SecTrustCreateWithCertificates(NSArray(), nil, &made) == errSecParam)
        #expect(SecTrustCreateWithCertificates("x" as NSString, nil, &made) == errSecParam)
        #expect(SecTrustCreateWithCertificates(NSArray(array: [root, "x"]), nil, &made) == errSecParam)
        #expect(SecTrustCreateWithCertificates(root, "x" as NSString, &made) == errSecParam && made == nil)
        #expect(SecTrustCreateWithCertificates(root, nil, &made) == errSecSuccess)
        var policies: CFArray?
        #expect(
            SecTrustCopyPolicies(try #require(made), &policies) == errSecSuccess && policies as? [SecPolicy] == [SecPolicyCreateBasicX509()]
        )
        let allowed = UnsafeMutablePointer<DarwinBoolean>.allocate(capacity: 1)
        defer { allowed.deallocate() }
        #expect(SecTrustSetNetworkFetchAllowed(try #require(made), false) == errSecSuccess)
        #expect(SecTrustGetNetworkFetchAllowed(try #require(made), allowed) == errSecSuccess && !allowed.pointee.boolValue)
    }

    @Test("A subject without a common name has none, and a summary all the same") func subjectWithoutACommonName() throws {
        defer { openssl.remove() }
        var name: CFString? = "unchanged"
        #expect(SecCertificateCopyCommonName(root, &name) == errSecSuccess && name as String? == "root")
        let other = try openssl.selfSigned("other", [], subject: "/O=Example")
        #expect(SecCertificateCopyCommonName(other, &name) == errSecInternal && name as String? == "root")
        #expect(SecCertificateCopySubjectSummary(other) as String? == "Example")
    }

    @Test("The summary of a subject is as on Apple's systems") func summaryIsAsOnApplesSystems() throws {
        defer { openssl.remove() }
        let unit = "/C=US/O=Example/OU=Unit"
        for (subject, extensions, expected) in [
            ("/CN=first/CN=second", [], "second, first"), ("/CN=name/description=told", [], "name (told)"), (unit, [], "Unit"),
            ("/C=US/ST=CA", [], "CA, US"), (unit, ["subjectAltName=DNS:example.com,email:a@example.com"], "a@example.com"),
            (unit, ["subjectAltName=DNS:example.com"], "example.com"),
            ("/O=Example/CN=name", ["subjectAltName=DNS:example.com,email:a@example.com"], "name"),
        ] as [(String, [String], String)] {
            let certificate = try openssl.selfSigned("summary", extensions, subject: subject)
            #expect(SecCertificateCopySubjectSummary(certificate) as String? == expected, "\(subject)")
        }
    }

    @Test("A policy returns its properties, which create an equal policy") func policyReturnsItsProperties() throws {
        defer { openssl.remove() }
        let policies = [
            SecPolicyCreateBasicX509(), SecPolicyCreateSSL(true, "example.com"), SecPolicyCreateSSL(false, nil),
            try #require(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod)),
        ]
        for policy in policies {
            let properties = try #require(SecPolicyCopyProperties(policy))
            #expect(SecPolicyCreateWithProperties(try #require(properties[kSecPolicyOid] as? NSString), properties) == policy)
            #expect(policies.filter { $0 == policy }.count == 1)
            #expect(CFGetTypeID(policy) == SecPolicyGetTypeID())
        }
        #expect((SecPolicyCopyProperties(policies[1]) as? [String: String])?["SecPolicyName"] == "example.com")
        #expect(SecPolicyCreateWithProperties("1.2.3" as NSString, nil) == nil)
    }
}
