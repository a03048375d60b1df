import Security
import Testing

/// The numbers of `errSec*` and their messages.
@Suite struct StatusTests {
    @Test(
        "Statuses have Apple's numbers",
        arguments: [
            (errSecSuccess, 0), (errSecUnimplemented, -4), (errSecParam, -50), (errSecAllocate, -108),
            (errSecUserCanceled, -128), (errSecInternalComponent, -2070), (errSecACLNotSimple, -25240),
            (errSecNotAvailable, -25291), (errSecAuthFailed, -25293), (errSecDuplicateItem, -25299),
            (errSecItemNotFound, -25300), (errSecInteractionNotAllowed, -25308),
            (errSecInteractionRequired, -25315), (errSecOTRIDTooNew, -25329), (errSecDecode, -26275),
            (errSecInternal, -26276), (errSecItemIllegalQuery, -34016), (errSecMissingEntitlement, -34018),
            (errSecRestrictedAPI, -34020), (errSecServiceNotAvailable, -67585),
            (errSecInvalidKeyRef, -67712), (errSecVerifyFailed, -67808),
            (errSecMissingQualifiedCertStatement, -67904), (errSSLCrypto, -9809),
        ] as [(OSStatus, OSStatus)])
    func statusesHaveApplesNumbers(status: OSStatus, number: OSStatus) {
        #expect(status == number)
    }

    /// Swift imports Apple's functions so, and applications ignore the status of a deletion. Warnings are errors in this package.
    @Test("The status of a call can be ignored") func statusCanBeIgnored() {
        let nothing = [:] as CFDictionary
        SecItemAdd(nothing, nil)
        SecItemCopyMatching(nothing, nil)
        SecItemUpdate(nothing, nothing)
        SecItemDelete(nothing)
        SecKeyCreateRandomKey(nothing, nil)
        #expect(SecItemDelete(nothing) == errSecParam)
    }

    /// The ranges in which Apple uses every number.
    @Test(
        "Every status in Apple's ranges has a message",
        arguments: [-67904 ... -67585, -25320 ... -25291, -25245 ... -25240, -34020 ... -34000]
            as [ClosedRange<OSStatus>])
    func everyStatusIsListed(range: ClosedRange<OSStatus>) {
        for status in range {
            #expect(staticMessage(for: status) != nil, "\(status)")
        }
    }

    /// The statuses that the keychain itself returns, each with its own message.
    @Test(
        "Each status that the keychain returns has an explanation of its own",
        arguments: [
            errSecSuccess, errSecUnimplemented, errSecDiskFull, errSecIO, errSecOpWr, errSecParam, errSecWrPerm,
            errSecAllocate, errSecUserCanceled, errSecBadReq, errSecInternalComponent, errSecNotAvailable,
            errSecReadOnly, errSecAuthFailed, errSecNoSuchKeychain, errSecInvalidKeychain,
            errSecDuplicateKeychain, errSecDuplicateCallback, errSecInvalidCallback, errSecDuplicateItem,
            errSecItemNotFound, errSecBufferTooSmall, errSecDataTooLarge, errSecNoSuchAttr,
            errSecInvalidItemRef, errSecNoSuchClass, errSecInteractionNotAllowed, errSecReadOnlyAttr,
            errSecKeySizeNotAllowed, errSecInteractionRequired, errSecAuthNeeded, errSecInvalidKeyRef,
            errSecDecode, errSecInternal, errSecVerifyFailed, errSecMissingEntitlement, errSecUpgradePending,
            errSecRestrictedAPI,
        ])
    func commonStatusesAreExplained(status: OSStatus) throws {
        let message = try #require(staticMessage(for: status))
        #expect(message.hasSuffix("."))
        #expect(!message.contains("errSec"))
    }

    @Test("Other statuses are described by their names") func otherStatusesAreDescribedByTheirNames() {
        #expect(
            staticMessage(for: errSecCRLServerDown)
                == "The operation failed: CRL server down (errSecCRLServerDown).")
        #expect(
            staticMessage(for: errSecInvalidKeyUsageMask)
                == "The operation failed: invalid key usage mask (errSecInvalidKeyUsageMask).")
        #expect(
            staticMessage(for: errSecMissingAttributeDLDBHandle)
                == "The operation failed: missing attribute DLDB handle (errSecMissingAttributeDLDBHandle).")
        #expect(
            staticMessage(for: errSecSSLBadExtendedKeyUsage)
                == "The operation failed: SSL bad extended key usage (errSecSSLBadExtendedKeyUsage).")
    }

    @Test("A status yields its symbolic name") func statusYieldsItsName() {
        #expect(symbolicName(for: errSecItemNotFound) == "errSecItemNotFound")
        #expect(symbolicName(for: errSecInvaldCRLAuthority) == "errSecInvalidCRLAuthority")
    }

    @Test(
        "An unknown status has neither a message nor a name", arguments: [1, -1, -25239, -67905, OSStatus.min, OSStatus.max] as [OSStatus])
    func unknownStatusesHaveNoMessage(status: OSStatus) {
        #expect(staticMessage(for: status) == nil)
        #expect(symbolicName(for: status) == nil)
        #expect(SecCopyErrorMessageString(status, nil) as String? == "OSStatus \(status)")
    }
}
