// Statuses of policies, databases and timestamps, from -67812 to -67904.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name
// and, where a user may read it, a sentence.

// MARK: Devices, logins and digests.

public let errSecDeviceVerifyFailed: OSStatus = -67812
public let errSecInvalidLoginName: OSStatus = -67813
public let errSecAlreadyLoggedIn: OSStatus = -67814
public let errSecInvalidDigestAlgorithm: OSStatus = -67815

// MARK: Certificates and revocation lists.

public let errSecInvalidCRLGroup: OSStatus = -67816
public let errSecCertificateCannotOperate: OSStatus = -67817
public let errSecCertificateExpired: OSStatus = -67818
public let errSecCertificateNotValidYet: OSStatus = -67819
public let errSecCertificateRevoked: OSStatus = -67820
public let errSecCertificateSuspended: OSStatus = -67821
public let errSecInsufficientCredentials: OSStatus = -67822
public let errSecInvalidAction: OSStatus = -67823
public let errSecInvalidAuthority: OSStatus = -67824
public let errSecVerifyActionFailed: OSStatus = -67825
public let errSecInvalidCertAuthority: OSStatus = -67826
/// The misspelt name is Apple's, and older sources use it.
public let errSecInvaldCRLAuthority: OSStatus = -67827
public let errSecInvalidCRLAuthority: OSStatus = -67827
public let errSecInvalidCRLEncoding: OSStatus = -67828
public let errSecInvalidCRLType: OSStatus = -67829
public let errSecInvalidCRL: OSStatus = -67830

// MARK: Requests to an authority.

public let errSecInvalidFormType: OSStatus = -67831
public let errSecInvalidID: OSStatus = -67832
public let errSecInvalidIdentifier: OSStatus = -67833
public let errSecInvalidIndex: OSStatus = -67834
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
public let errSecInvalidTimeString: OSStatus = -67836
public let errSecInvalidReason: OSStatus = -67837
public let errSecInvalidRequestInputs: OSStatus = -67838
public let errSecInvalidResponseVector: OSStatus = -67839
public let errSecInvalidStopOnPolicy: OSStatus = -67840
public let errSecInvalidTuple: OSStatus = -67841
public let errSecMultipleValuesUnsupported: OSStatus = -67842
public let errSecNotTrusted: OSStatus = -67843
public let errSecNoDefaultAuthority: OSStatus = -67844
public let errSecRejectedForm: OSStatus = -67845
public let errSecRequestLost: OSStatus = -67846
public let errSecRequestRejected: OSStatus = -67847
public let errSecUnsupportedAddressType: OSStatus = -67848
public let errSecUnsupportedService: OSStatus = -67849
public let errSecInvalidTupleGroup: OSStatus = -67850
public let errSecInvalidBaseACLs: OSStatus = -67851
/// The misspelt name is Apple's, and older sources use it.
public let errSecInvalidTupleCredendtials: OSStatus = -67852
public let errSecInvalidTupleCredentials: OSStatus = -67852
public let errSecInvalidEncoding: OSStatus = -67853
public let errSecInvalidValidityPeriod: OSStatus = -67854
public let errSecInvalidRequestor: OSStatus = -67855
public let errSecRequestDescriptor: OSStatus = -67856

// MARK: Databases.

public let errSecInvalidBundleInfo: OSStatus = -67857
public let errSecInvalidCRLIndex: OSStatus = -67858
public let errSecNoFieldValues: OSStatus = -67859
public let errSecUnsupportedFieldFormat: OSStatus = -67860
public let errSecUnsupportedIndexInfo: OSStatus = -67861
public let errSecUnsupportedLocality: OSStatus = -67862
public let errSecUnsupportedNumAttributes: OSStatus = -67863
public let errSecUnsupportedNumIndexes: OSStatus = -67864
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
public let errSecIncompatibleFieldFormat: OSStatus = -67867
public let errSecInvalidParsingModule: OSStatus = -67868
public let errSecDatabaseLocked: OSStatus = -67869
public let errSecDatastoreIsOpen: OSStatus = -67870
public let errSecMissingValue: OSStatus = -67871
public let errSecUnsupportedQueryLimits: OSStatus = -67872
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
public let errSecUnsupportedOperator: OSStatus = -67874
public let errSecInvalidDBLocation: OSStatus = -67875
public let errSecInvalidAccessRequest: OSStatus = -67876
public let errSecInvalidIndexInfo: OSStatus = -67877
public let errSecInvalidNewOwner: OSStatus = -67878
public let errSecInvalidModifyMode: OSStatus = -67879

// MARK: Extensions and timestamps.

public let errSecMissingRequiredExtension: OSStatus = -67880
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881
public let errSecTimestampMissing: OSStatus = -67882
public let errSecTimestampInvalid: OSStatus = -67883
public let errSecTimestampNotTrusted: OSStatus = -67884
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
public let errSecTimestampBadAlg: OSStatus = -67886
public let errSecTimestampBadRequest: OSStatus = -67887
public let errSecTimestampBadDataFormat: OSStatus = -67888
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
public let errSecTimestampSystemFailure: OSStatus = -67893
public let errSecSigningTimeMissing: OSStatus = -67894
public let errSecTimestampRejection: OSStatus = -67895
public let errSecTimestampWaiting: OSStatus = -67896
public let errSecTimestampRevocationWarning: OSStatus = -67897
public let errSecTimestampRevocationNotification: OSStatus = -67898

// MARK: Rules for issued certificates.

public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
public let errSecCertificateNameNotAllowed: OSStatus = -67900
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
public let errSecCertificateIsCA: OSStatus = -67902
public let errSecCertificateDuplicateExtension: OSStatus = -67903
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
    KnownStatus(errSecCertificateNotValidYet, "errSecCertificateNotValidYet", "The validity of the certificate has not begun."),
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
    KnownStatus(errSecInvalidBaseACLs, "errSecInvalidBaseACLs", "The access control lists to start from are malformed."),
    KnownStatus(errSecInvalidTupleCredentials, "errSecInvalidTupleCredentials", "The tuple carries malformed credentials."),
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
