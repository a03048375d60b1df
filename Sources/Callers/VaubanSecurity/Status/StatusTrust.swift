// Statuses of certificates and trust, from -67585 to -67666.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name and, where a user may see it, a message.

// MARK: Devices, keys and stored blobs.

/// Service not available.
public let errSecServiceNotAvailable: OSStatus = -67585
/// Insufficient client ID.
public let errSecInsufficientClientID: OSStatus = -67586
/// Device reset.
public let errSecDeviceReset: OSStatus = -67587
/// Device failed.
public let errSecDeviceFailed: OSStatus = -67588
/// Apple add app ACL subject.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// Apple public key incomplete.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// Apple signature mismatch.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// Apple invalid key start date.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// Apple invalid key end date.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// Conversion error.
public let errSecConversionError: OSStatus = -67594
/// The connection was downgraded to SSL version 2.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// The storage quota is used up.
public let errSecQuotaExceeded: OSStatus = -67596
/// The file exceeds the greatest size allowed.
public let errSecFileTooBig: OSStatus = -67597
/// Invalid database blob.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// Invalid key blob.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// Incompatible database blob.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// Incompatible key blob.
public let errSecIncompatibleKeyBlob: OSStatus = -67601

// MARK: Certificate chains.

/// The certificate was issued for another host name.
public let errSecHostNameMismatch: OSStatus = -67602
/// Unknown critical extension flag.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// No basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604
/// No basic constraints CA.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// Invalid authority key ID.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// Invalid subject key ID.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// Invalid key usage for policy.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// Invalid extended key usage.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// Invalid ID linkage.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// Path length constraint exceeded.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// Invalid root.
public let errSecInvalidRoot: OSStatus = -67612

// MARK: Revocation lists.

/// CRL expired.
public let errSecCRLExpired: OSStatus = -67613
/// CRL not valid yet.
public let errSecCRLNotValidYet: OSStatus = -67614
/// CRL not found.
public let errSecCRLNotFound: OSStatus = -67615
/// CRL server down.
public let errSecCRLServerDown: OSStatus = -67616
/// CRL bad URI.
public let errSecCRLBadURI: OSStatus = -67617
/// Unknown cert extension.
public let errSecUnknownCertExtension: OSStatus = -67618
/// Unknown CRL extension.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// CRL not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620
/// CRL policy failed.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// IDP failure.
public let errSecIDPFailure: OSStatus = -67622

// MARK: Mail and server certificates.

/// SMIME email addresses not found.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// SMIME bad extended key usage.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// SMIME bad key usage.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// SMIME key usage not critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// SMIME no email address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// SMIME subj alt name not critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// SSL bad extended key usage.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629

// MARK: Online revocation checks.

/// OCSP bad response.
public let errSecOCSPBadResponse: OSStatus = -67630
/// OCSP bad request.
public let errSecOCSPBadRequest: OSStatus = -67631
/// OCSP unavailable.
public let errSecOCSPUnavailable: OSStatus = -67632
/// OCSP status unrecognized.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// End of data.
public let errSecEndOfData: OSStatus = -67634
/// Incomplete cert revocation check.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// Network failure.
public let errSecNetworkFailure: OSStatus = -67636
/// OCSP not trusted to anchor.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// Record modified.
public let errSecRecordModified: OSStatus = -67638
/// OCSP signature error.
public let errSecOCSPSignatureError: OSStatus = -67639
/// OCSP no signer.
public let errSecOCSPNoSigner: OSStatus = -67640
/// OCSP responder malformed req.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// OCSP responder internal error.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// OCSP responder try later.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// OCSP responder signature required.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// OCSP responder unauthorized.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// OCSP response nonce mismatch.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646

// MARK: Code signing.

/// Code signing bad cert chain length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// Code signing no basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// Code signing bad path length constraint.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// Code signing no extended key usage.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// Code signing development.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// Resource sign bad cert chain length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// Resource sign bad ext key usage.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653

// MARK: Trust settings and names.

/// The trust settings reject this certificate.
public let errSecTrustSettingDeny: OSStatus = -67654
/// Invalid subject name.
public let errSecInvalidSubjectName: OSStatus = -67655
/// Unknown qualified cert statement.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656

// MARK: The former MobileMe service.

/// Mobile me request queued.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// Mobile me request redirected.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// Mobile me server error.
public let errSecMobileMeServerError: OSStatus = -67659
/// Mobile me server not available.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// Mobile me server already exists.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// Mobile me server service err.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// Mobile me request already pending.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// Mobile me no request pending.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// Mobile me CSR verify failure.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// Mobile me failed consistency check.
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
    KnownStatus(errSecAppleSSLv2Rollback, "errSecAppleSSLv2Rollback", "The connection was downgraded to SSL version 2."),
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
