// Statuses of certificates and trust, from -67585 to -67666.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name
// and, where a user may read it, a sentence.

// MARK: Devices, keys and stored blobs.

public let errSecServiceNotAvailable: OSStatus = -67585
public let errSecInsufficientClientID: OSStatus = -67586
public let errSecDeviceReset: OSStatus = -67587
public let errSecDeviceFailed: OSStatus = -67588
public let errSecAppleAddAppACLSubject: OSStatus = -67589
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
public let errSecAppleSignatureMismatch: OSStatus = -67591
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
public let errSecConversionError: OSStatus = -67594
public let errSecAppleSSLv2Rollback: OSStatus = -67595
public let errSecQuotaExceeded: OSStatus = -67596
public let errSecFileTooBig: OSStatus = -67597
public let errSecInvalidDatabaseBlob: OSStatus = -67598
public let errSecInvalidKeyBlob: OSStatus = -67599
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
public let errSecIncompatibleKeyBlob: OSStatus = -67601

// MARK: Certificate chains.

public let errSecHostNameMismatch: OSStatus = -67602
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
public let errSecNoBasicConstraints: OSStatus = -67604
public let errSecNoBasicConstraintsCA: OSStatus = -67605
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
public let errSecInvalidSubjectKeyID: OSStatus = -67607
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
public let errSecInvalidIDLinkage: OSStatus = -67610
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
public let errSecInvalidRoot: OSStatus = -67612

// MARK: Revocation lists.

public let errSecCRLExpired: OSStatus = -67613
public let errSecCRLNotValidYet: OSStatus = -67614
public let errSecCRLNotFound: OSStatus = -67615
public let errSecCRLServerDown: OSStatus = -67616
public let errSecCRLBadURI: OSStatus = -67617
public let errSecUnknownCertExtension: OSStatus = -67618
public let errSecUnknownCRLExtension: OSStatus = -67619
public let errSecCRLNotTrusted: OSStatus = -67620
public let errSecCRLPolicyFailed: OSStatus = -67621
public let errSecIDPFailure: OSStatus = -67622

// MARK: Mail and server certificates.

public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
public let errSecSMIMENoEmailAddress: OSStatus = -67627
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629

// MARK: Online revocation checks.

public let errSecOCSPBadResponse: OSStatus = -67630
public let errSecOCSPBadRequest: OSStatus = -67631
public let errSecOCSPUnavailable: OSStatus = -67632
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
public let errSecEndOfData: OSStatus = -67634
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
public let errSecNetworkFailure: OSStatus = -67636
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
public let errSecRecordModified: OSStatus = -67638
public let errSecOCSPSignatureError: OSStatus = -67639
public let errSecOCSPNoSigner: OSStatus = -67640
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
public let errSecOCSPResponderInternalError: OSStatus = -67642
public let errSecOCSPResponderTryLater: OSStatus = -67643
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646

// MARK: Code signing.

public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
public let errSecCodeSigningDevelopment: OSStatus = -67651
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653

// MARK: Trust settings and names.

public let errSecTrustSettingDeny: OSStatus = -67654
public let errSecInvalidSubjectName: OSStatus = -67655
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656

// MARK: The former MobileMe service.

public let errSecMobileMeRequestQueued: OSStatus = -67657
public let errSecMobileMeRequestRedirected: OSStatus = -67658
public let errSecMobileMeServerError: OSStatus = -67659
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
public let errSecMobileMeServerServiceErr: OSStatus = -67662
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
public let errSecMobileMeNoRequestPending: OSStatus = -67664
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666

// MARK: Names and messages.

let trustStatuses: [KnownStatus] = [
    KnownStatus(errSecServiceNotAvailable, "errSecServiceNotAvailable"),
    KnownStatus(errSecInsufficientClientID, "errSecInsufficientClientID"),
    KnownStatus(errSecDeviceReset, "errSecDeviceReset"),
    KnownStatus(errSecDeviceFailed, "errSecDeviceFailed"),
    KnownStatus(errSecAppleAddAppACLSubject, "errSecAppleAddAppACLSubject"),
    KnownStatus(errSecApplePublicKeyIncomplete, "errSecApplePublicKeyIncomplete"),
    KnownStatus(errSecAppleSignatureMismatch, "errSecAppleSignatureMismatch"),
    KnownStatus(errSecAppleInvalidKeyStartDate, "errSecAppleInvalidKeyStartDate"),
    KnownStatus(errSecAppleInvalidKeyEndDate, "errSecAppleInvalidKeyEndDate"),
    KnownStatus(errSecConversionError, "errSecConversionError"),
    KnownStatus(errSecAppleSSLv2Rollback, "errSecAppleSSLv2Rollback", "The connection was pushed back to SSL version 2."),
    KnownStatus(errSecQuotaExceeded, "errSecQuotaExceeded", "The storage quota is used up."),
    KnownStatus(errSecFileTooBig, "errSecFileTooBig", "The file exceeds the greatest size allowed."),
    KnownStatus(errSecInvalidDatabaseBlob, "errSecInvalidDatabaseBlob"),
    KnownStatus(errSecInvalidKeyBlob, "errSecInvalidKeyBlob"),
    KnownStatus(errSecIncompatibleDatabaseBlob, "errSecIncompatibleDatabaseBlob"),
    KnownStatus(errSecIncompatibleKeyBlob, "errSecIncompatibleKeyBlob"),
    KnownStatus(errSecHostNameMismatch, "errSecHostNameMismatch", "The certificate was issued for another host name."),
    KnownStatus(errSecUnknownCriticalExtensionFlag, "errSecUnknownCriticalExtensionFlag"),
    KnownStatus(errSecNoBasicConstraints, "errSecNoBasicConstraints"),
    KnownStatus(errSecNoBasicConstraintsCA, "errSecNoBasicConstraintsCA"),
    KnownStatus(errSecInvalidAuthorityKeyID, "errSecInvalidAuthorityKeyID"),
    KnownStatus(errSecInvalidSubjectKeyID, "errSecInvalidSubjectKeyID"),
    KnownStatus(errSecInvalidKeyUsageForPolicy, "errSecInvalidKeyUsageForPolicy"),
    KnownStatus(errSecInvalidExtendedKeyUsage, "errSecInvalidExtendedKeyUsage"),
    KnownStatus(errSecInvalidIDLinkage, "errSecInvalidIDLinkage"),
    KnownStatus(errSecPathLengthConstraintExceeded, "errSecPathLengthConstraintExceeded"),
    KnownStatus(errSecInvalidRoot, "errSecInvalidRoot"),
    KnownStatus(errSecCRLExpired, "errSecCRLExpired"),
    KnownStatus(errSecCRLNotValidYet, "errSecCRLNotValidYet"),
    KnownStatus(errSecCRLNotFound, "errSecCRLNotFound"),
    KnownStatus(errSecCRLServerDown, "errSecCRLServerDown"),
    KnownStatus(errSecCRLBadURI, "errSecCRLBadURI"),
    KnownStatus(errSecUnknownCertExtension, "errSecUnknownCertExtension"),
    KnownStatus(errSecUnknownCRLExtension, "errSecUnknownCRLExtension"),
    KnownStatus(errSecCRLNotTrusted, "errSecCRLNotTrusted"),
    KnownStatus(errSecCRLPolicyFailed, "errSecCRLPolicyFailed"),
    KnownStatus(errSecIDPFailure, "errSecIDPFailure"),
    KnownStatus(errSecSMIMEEmailAddressesNotFound, "errSecSMIMEEmailAddressesNotFound"),
    KnownStatus(errSecSMIMEBadExtendedKeyUsage, "errSecSMIMEBadExtendedKeyUsage"),
    KnownStatus(errSecSMIMEBadKeyUsage, "errSecSMIMEBadKeyUsage"),
    KnownStatus(errSecSMIMEKeyUsageNotCritical, "errSecSMIMEKeyUsageNotCritical"),
    KnownStatus(errSecSMIMENoEmailAddress, "errSecSMIMENoEmailAddress"),
    KnownStatus(errSecSMIMESubjAltNameNotCritical, "errSecSMIMESubjAltNameNotCritical"),
    KnownStatus(errSecSSLBadExtendedKeyUsage, "errSecSSLBadExtendedKeyUsage"),
    KnownStatus(errSecOCSPBadResponse, "errSecOCSPBadResponse"),
    KnownStatus(errSecOCSPBadRequest, "errSecOCSPBadRequest"),
    KnownStatus(errSecOCSPUnavailable, "errSecOCSPUnavailable"),
    KnownStatus(errSecOCSPStatusUnrecognized, "errSecOCSPStatusUnrecognized"),
    KnownStatus(errSecEndOfData, "errSecEndOfData"),
    KnownStatus(errSecIncompleteCertRevocationCheck, "errSecIncompleteCertRevocationCheck"),
    KnownStatus(errSecNetworkFailure, "errSecNetworkFailure"),
    KnownStatus(errSecOCSPNotTrustedToAnchor, "errSecOCSPNotTrustedToAnchor"),
    KnownStatus(errSecRecordModified, "errSecRecordModified"),
    KnownStatus(errSecOCSPSignatureError, "errSecOCSPSignatureError"),
    KnownStatus(errSecOCSPNoSigner, "errSecOCSPNoSigner"),
    KnownStatus(errSecOCSPResponderMalformedReq, "errSecOCSPResponderMalformedReq"),
    KnownStatus(errSecOCSPResponderInternalError, "errSecOCSPResponderInternalError"),
    KnownStatus(errSecOCSPResponderTryLater, "errSecOCSPResponderTryLater"),
    KnownStatus(errSecOCSPResponderSignatureRequired, "errSecOCSPResponderSignatureRequired"),
    KnownStatus(errSecOCSPResponderUnauthorized, "errSecOCSPResponderUnauthorized"),
    KnownStatus(errSecOCSPResponseNonceMismatch, "errSecOCSPResponseNonceMismatch"),
    KnownStatus(errSecCodeSigningBadCertChainLength, "errSecCodeSigningBadCertChainLength"),
    KnownStatus(errSecCodeSigningNoBasicConstraints, "errSecCodeSigningNoBasicConstraints"),
    KnownStatus(errSecCodeSigningBadPathLengthConstraint, "errSecCodeSigningBadPathLengthConstraint"),
    KnownStatus(errSecCodeSigningNoExtendedKeyUsage, "errSecCodeSigningNoExtendedKeyUsage"),
    KnownStatus(errSecCodeSigningDevelopment, "errSecCodeSigningDevelopment"),
    KnownStatus(errSecResourceSignBadCertChainLength, "errSecResourceSignBadCertChainLength"),
    KnownStatus(errSecResourceSignBadExtKeyUsage, "errSecResourceSignBadExtKeyUsage"),
    KnownStatus(errSecTrustSettingDeny, "errSecTrustSettingDeny", "The trust settings reject this certificate."),
    KnownStatus(errSecInvalidSubjectName, "errSecInvalidSubjectName"),
    KnownStatus(errSecUnknownQualifiedCertStatement, "errSecUnknownQualifiedCertStatement"),
    KnownStatus(errSecMobileMeRequestQueued, "errSecMobileMeRequestQueued"),
    KnownStatus(errSecMobileMeRequestRedirected, "errSecMobileMeRequestRedirected"),
    KnownStatus(errSecMobileMeServerError, "errSecMobileMeServerError"),
    KnownStatus(errSecMobileMeServerNotAvailable, "errSecMobileMeServerNotAvailable"),
    KnownStatus(errSecMobileMeServerAlreadyExists, "errSecMobileMeServerAlreadyExists"),
    KnownStatus(errSecMobileMeServerServiceErr, "errSecMobileMeServerServiceErr"),
    KnownStatus(errSecMobileMeRequestAlreadyPending, "errSecMobileMeRequestAlreadyPending"),
    KnownStatus(errSecMobileMeNoRequestPending, "errSecMobileMeNoRequestPending"),
    KnownStatus(errSecMobileMeCSRVerifyFailure, "errSecMobileMeCSRVerifyFailure"),
    KnownStatus(errSecMobileMeFailedConsistencyCheck, "errSecMobileMeFailedConsistencyCheck"),
]
