// Statuses of policies, databases and timestamps, from -67812 to -67904.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name and, where a user may see it, a message.

// MARK: Devices, logins and digests.

/// Device verify failed.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// Invalid login name.
public let errSecInvalidLoginName: OSStatus = -67813
/// Already logged in.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// Invalid digest algorithm.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815

// MARK: Certificates and revocation lists.

/// Invalid CRL group.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// Certificate cannot operate.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// The certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818
/// The certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The issuer has revoked the certificate.
public let errSecCertificateRevoked: OSStatus = -67820
/// The issuer has suspended the certificate.
public let errSecCertificateSuspended: OSStatus = -67821
/// The credentials are not sufficient.
public let errSecInsufficientCredentials: OSStatus = -67822
/// Invalid action.
public let errSecInvalidAction: OSStatus = -67823
/// Invalid authority.
public let errSecInvalidAuthority: OSStatus = -67824
/// Verify action failed.
public let errSecVerifyActionFailed: OSStatus = -67825
/// Invalid cert authority.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// Apple's misspelling of `errSecInvalidCRLAuthority`, which older sources use.
public let errSecInvaldCRLAuthority: OSStatus = -67827
/// The authority of the revocation list is not valid.
public let errSecInvalidCRLAuthority: OSStatus = -67827
/// Invalid CRL encoding.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// Invalid CRL type.
public let errSecInvalidCRLType: OSStatus = -67829
/// Invalid CRL.
public let errSecInvalidCRL: OSStatus = -67830

// MARK: Requests to an authority.

/// Invalid form type.
public let errSecInvalidFormType: OSStatus = -67831
/// Invalid ID.
public let errSecInvalidID: OSStatus = -67832
/// Invalid identifier.
public let errSecInvalidIdentifier: OSStatus = -67833
/// Invalid index.
public let errSecInvalidIndex: OSStatus = -67834
/// Invalid policy identifiers.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// Invalid time string.
public let errSecInvalidTimeString: OSStatus = -67836
/// Invalid reason.
public let errSecInvalidReason: OSStatus = -67837
/// Invalid request inputs.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// Invalid response vector.
public let errSecInvalidResponseVector: OSStatus = -67839
/// Invalid stop on policy.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// Invalid tuple.
public let errSecInvalidTuple: OSStatus = -67841
/// Multiple values unsupported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// The certificate chain does not lead to a trusted root.
public let errSecNotTrusted: OSStatus = -67843
/// No default authority.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// Rejected form.
public let errSecRejectedForm: OSStatus = -67845
/// Request lost.
public let errSecRequestLost: OSStatus = -67846
/// Request rejected.
public let errSecRequestRejected: OSStatus = -67847
/// Unsupported address type.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// Unsupported service.
public let errSecUnsupportedService: OSStatus = -67849
/// Invalid tuple group.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// The base access control lists are malformed.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// Apple's misspelling of `errSecInvalidTupleCredentials`, which older sources use.
public let errSecInvalidTupleCredendtials: OSStatus = -67852
/// The credentials in the tuple are malformed.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// The data is not encoded as expected.
public let errSecInvalidEncoding: OSStatus = -67853
/// Invalid validity period.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// Invalid requestor.
public let errSecInvalidRequestor: OSStatus = -67855
/// Request descriptor.
public let errSecRequestDescriptor: OSStatus = -67856

// MARK: Databases.

/// Invalid bundle info.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// Invalid CRL index.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// No field values.
public let errSecNoFieldValues: OSStatus = -67859
/// Unsupported field format.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// Unsupported index info.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// Unsupported locality.
public let errSecUnsupportedLocality: OSStatus = -67862
/// Unsupported num attributes.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// Unsupported num indexes.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// Unsupported num record types.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// Field specified multiple.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// Incompatible field format.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// Invalid parsing module.
public let errSecInvalidParsingModule: OSStatus = -67868
/// Unlock the database before using it.
public let errSecDatabaseLocked: OSStatus = -67869
/// Datastore is open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// Missing value.
public let errSecMissingValue: OSStatus = -67871
/// Unsupported query limits.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// Unsupported num selection preds.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// Unsupported operator.
public let errSecUnsupportedOperator: OSStatus = -67874
/// Invalid DB location.
public let errSecInvalidDBLocation: OSStatus = -67875
/// Invalid access request.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// Invalid index info.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// Invalid new owner.
public let errSecInvalidNewOwner: OSStatus = -67878
/// Invalid modify mode.
public let errSecInvalidModifyMode: OSStatus = -67879

// MARK: Extensions and timestamps.

/// Missing required extension.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// Extended key usage not critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881
/// Timestamp missing.
public let errSecTimestampMissing: OSStatus = -67882
/// Timestamp invalid.
public let errSecTimestampInvalid: OSStatus = -67883
/// Timestamp not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// Timestamp service not available.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// Timestamp bad alg.
public let errSecTimestampBadAlg: OSStatus = -67886
/// Timestamp bad request.
public let errSecTimestampBadRequest: OSStatus = -67887
/// Timestamp bad data format.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// Timestamp time not available.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// Timestamp unaccepted policy.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// Timestamp unaccepted extension.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// Timestamp add info not available.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// Timestamp system failure.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// Signing time missing.
public let errSecSigningTimeMissing: OSStatus = -67894
/// Timestamp rejection.
public let errSecTimestampRejection: OSStatus = -67895
/// Timestamp waiting.
public let errSecTimestampWaiting: OSStatus = -67896
/// Timestamp revocation warning.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// Timestamp revocation notification.
public let errSecTimestampRevocationNotification: OSStatus = -67898

// MARK: Rules for issued certificates.

/// Certificate policy not allowed.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
/// Certificate name not allowed.
public let errSecCertificateNameNotAllowed: OSStatus = -67900
/// Certificate validity period too long.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
/// Certificate is CA.
public let errSecCertificateIsCA: OSStatus = -67902
/// Certificate duplicate extension.
public let errSecCertificateDuplicateExtension: OSStatus = -67903
/// Missing qualified cert statement.
public let errSecMissingQualifiedCertStatement: OSStatus = -67904

// MARK: Names and messages.

let policyStatuses: [KnownStatus] = [
    KnownStatus(errSecDeviceVerifyFailed, "errSecDeviceVerifyFailed"),
    KnownStatus(errSecInvalidLoginName, "errSecInvalidLoginName"),
    KnownStatus(errSecAlreadyLoggedIn, "errSecAlreadyLoggedIn"),
    KnownStatus(errSecInvalidDigestAlgorithm, "errSecInvalidDigestAlgorithm"),
    KnownStatus(errSecInvalidCRLGroup, "errSecInvalidCRLGroup"),
    KnownStatus(errSecCertificateCannotOperate, "errSecCertificateCannotOperate"),
    KnownStatus(errSecCertificateExpired, "errSecCertificateExpired", "The certificate has expired."),
    KnownStatus(errSecCertificateNotValidYet, "errSecCertificateNotValidYet", "The certificate is not valid yet."),
    KnownStatus(errSecCertificateRevoked, "errSecCertificateRevoked", "The issuer has revoked the certificate."),
    KnownStatus(errSecCertificateSuspended, "errSecCertificateSuspended", "The issuer has suspended the certificate."),
    KnownStatus(errSecInsufficientCredentials, "errSecInsufficientCredentials", "The credentials are not sufficient."),
    KnownStatus(errSecInvalidAction, "errSecInvalidAction"),
    KnownStatus(errSecInvalidAuthority, "errSecInvalidAuthority"),
    KnownStatus(errSecVerifyActionFailed, "errSecVerifyActionFailed"),
    KnownStatus(errSecInvalidCertAuthority, "errSecInvalidCertAuthority"),
    KnownStatus(errSecInvalidCRLAuthority, "errSecInvalidCRLAuthority", "The authority of the revocation list is not valid."),
    KnownStatus(errSecInvalidCRLEncoding, "errSecInvalidCRLEncoding"),
    KnownStatus(errSecInvalidCRLType, "errSecInvalidCRLType"),
    KnownStatus(errSecInvalidCRL, "errSecInvalidCRL"),
    KnownStatus(errSecInvalidFormType, "errSecInvalidFormType"),
    KnownStatus(errSecInvalidID, "errSecInvalidID"),
    KnownStatus(errSecInvalidIdentifier, "errSecInvalidIdentifier"),
    KnownStatus(errSecInvalidIndex, "errSecInvalidIndex"),
    KnownStatus(errSecInvalidPolicyIdentifiers, "errSecInvalidPolicyIdentifiers"),
    KnownStatus(errSecInvalidTimeString, "errSecInvalidTimeString"),
    KnownStatus(errSecInvalidReason, "errSecInvalidReason"),
    KnownStatus(errSecInvalidRequestInputs, "errSecInvalidRequestInputs"),
    KnownStatus(errSecInvalidResponseVector, "errSecInvalidResponseVector"),
    KnownStatus(errSecInvalidStopOnPolicy, "errSecInvalidStopOnPolicy"),
    KnownStatus(errSecInvalidTuple, "errSecInvalidTuple"),
    KnownStatus(errSecMultipleValuesUnsupported, "errSecMultipleValuesUnsupported"),
    KnownStatus(errSecNotTrusted, "errSecNotTrusted", "The certificate chain does not lead to a trusted root."),
    KnownStatus(errSecNoDefaultAuthority, "errSecNoDefaultAuthority"),
    KnownStatus(errSecRejectedForm, "errSecRejectedForm"),
    KnownStatus(errSecRequestLost, "errSecRequestLost"),
    KnownStatus(errSecRequestRejected, "errSecRequestRejected"),
    KnownStatus(errSecUnsupportedAddressType, "errSecUnsupportedAddressType"),
    KnownStatus(errSecUnsupportedService, "errSecUnsupportedService"),
    KnownStatus(errSecInvalidTupleGroup, "errSecInvalidTupleGroup"),
    KnownStatus(errSecInvalidBaseACLs, "errSecInvalidBaseACLs", "The base access control lists are malformed."),
    KnownStatus(errSecInvalidTupleCredentials, "errSecInvalidTupleCredentials", "The credentials in the tuple are malformed."),
    KnownStatus(errSecInvalidEncoding, "errSecInvalidEncoding", "The data is not encoded as expected."),
    KnownStatus(errSecInvalidValidityPeriod, "errSecInvalidValidityPeriod"),
    KnownStatus(errSecInvalidRequestor, "errSecInvalidRequestor"),
    KnownStatus(errSecRequestDescriptor, "errSecRequestDescriptor"),
    KnownStatus(errSecInvalidBundleInfo, "errSecInvalidBundleInfo"),
    KnownStatus(errSecInvalidCRLIndex, "errSecInvalidCRLIndex"),
    KnownStatus(errSecNoFieldValues, "errSecNoFieldValues"),
    KnownStatus(errSecUnsupportedFieldFormat, "errSecUnsupportedFieldFormat"),
    KnownStatus(errSecUnsupportedIndexInfo, "errSecUnsupportedIndexInfo"),
    KnownStatus(errSecUnsupportedLocality, "errSecUnsupportedLocality"),
    KnownStatus(errSecUnsupportedNumAttributes, "errSecUnsupportedNumAttributes"),
    KnownStatus(errSecUnsupportedNumIndexes, "errSecUnsupportedNumIndexes"),
    KnownStatus(errSecUnsupportedNumRecordTypes, "errSecUnsupportedNumRecordTypes"),
    KnownStatus(errSecFieldSpecifiedMultiple, "errSecFieldSpecifiedMultiple"),
    KnownStatus(errSecIncompatibleFieldFormat, "errSecIncompatibleFieldFormat"),
    KnownStatus(errSecInvalidParsingModule, "errSecInvalidParsingModule"),
    KnownStatus(errSecDatabaseLocked, "errSecDatabaseLocked", "Unlock the database before using it."),
    KnownStatus(errSecDatastoreIsOpen, "errSecDatastoreIsOpen"),
    KnownStatus(errSecMissingValue, "errSecMissingValue"),
    KnownStatus(errSecUnsupportedQueryLimits, "errSecUnsupportedQueryLimits"),
    KnownStatus(errSecUnsupportedNumSelectionPreds, "errSecUnsupportedNumSelectionPreds"),
    KnownStatus(errSecUnsupportedOperator, "errSecUnsupportedOperator"),
    KnownStatus(errSecInvalidDBLocation, "errSecInvalidDBLocation"),
    KnownStatus(errSecInvalidAccessRequest, "errSecInvalidAccessRequest"),
    KnownStatus(errSecInvalidIndexInfo, "errSecInvalidIndexInfo"),
    KnownStatus(errSecInvalidNewOwner, "errSecInvalidNewOwner"),
    KnownStatus(errSecInvalidModifyMode, "errSecInvalidModifyMode"),
    KnownStatus(errSecMissingRequiredExtension, "errSecMissingRequiredExtension"),
    KnownStatus(errSecExtendedKeyUsageNotCritical, "errSecExtendedKeyUsageNotCritical"),
    KnownStatus(errSecTimestampMissing, "errSecTimestampMissing"),
    KnownStatus(errSecTimestampInvalid, "errSecTimestampInvalid"),
    KnownStatus(errSecTimestampNotTrusted, "errSecTimestampNotTrusted"),
    KnownStatus(errSecTimestampServiceNotAvailable, "errSecTimestampServiceNotAvailable"),
    KnownStatus(errSecTimestampBadAlg, "errSecTimestampBadAlg"),
    KnownStatus(errSecTimestampBadRequest, "errSecTimestampBadRequest"),
    KnownStatus(errSecTimestampBadDataFormat, "errSecTimestampBadDataFormat"),
    KnownStatus(errSecTimestampTimeNotAvailable, "errSecTimestampTimeNotAvailable"),
    KnownStatus(errSecTimestampUnacceptedPolicy, "errSecTimestampUnacceptedPolicy"),
    KnownStatus(errSecTimestampUnacceptedExtension, "errSecTimestampUnacceptedExtension"),
    KnownStatus(errSecTimestampAddInfoNotAvailable, "errSecTimestampAddInfoNotAvailable"),
    KnownStatus(errSecTimestampSystemFailure, "errSecTimestampSystemFailure"),
    KnownStatus(errSecSigningTimeMissing, "errSecSigningTimeMissing"),
    KnownStatus(errSecTimestampRejection, "errSecTimestampRejection"),
    KnownStatus(errSecTimestampWaiting, "errSecTimestampWaiting"),
    KnownStatus(errSecTimestampRevocationWarning, "errSecTimestampRevocationWarning"),
    KnownStatus(errSecTimestampRevocationNotification, "errSecTimestampRevocationNotification"),
    KnownStatus(errSecCertificatePolicyNotAllowed, "errSecCertificatePolicyNotAllowed"),
    KnownStatus(errSecCertificateNameNotAllowed, "errSecCertificateNameNotAllowed"),
    KnownStatus(errSecCertificateValidityPeriodTooLong, "errSecCertificateValidityPeriodTooLong"),
    KnownStatus(errSecCertificateIsCA, "errSecCertificateIsCA"),
    KnownStatus(errSecCertificateDuplicateExtension, "errSecCertificateDuplicateExtension"),
    KnownStatus(errSecMissingQualifiedCertStatement, "errSecMissingQualifiedCertStatement"),
]
