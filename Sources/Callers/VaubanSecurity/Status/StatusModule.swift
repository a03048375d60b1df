// Statuses of modules, handles and keys, from -67667 to -67747.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name
// and, where a user may read it, a sentence.

// MARK: Calls, memory and handles.

public let errSecNotInitialized: OSStatus = -67667
public let errSecInvalidHandleUsage: OSStatus = -67668
public let errSecPVCReferentNotFound: OSStatus = -67669
public let errSecFunctionIntegrityFail: OSStatus = -67670
public let errSecInternalError: OSStatus = -67671
public let errSecMemoryError: OSStatus = -67672
public let errSecInvalidData: OSStatus = -67673
public let errSecMDSError: OSStatus = -67674
public let errSecInvalidPointer: OSStatus = -67675
public let errSecSelfCheckFailed: OSStatus = -67676
public let errSecFunctionFailed: OSStatus = -67677
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
public let errSecInvalidGUID: OSStatus = -67679
public let errSecInvalidHandle: OSStatus = -67680
public let errSecInvalidDBList: OSStatus = -67681
public let errSecInvalidPassthroughID: OSStatus = -67682
public let errSecInvalidNetworkAddress: OSStatus = -67683

// MARK: Signatures, certificates and values.

public let errSecCRLAlreadySigned: OSStatus = -67684
public let errSecInvalidNumberOfFields: OSStatus = -67685
public let errSecVerificationFailure: OSStatus = -67686
public let errSecUnknownTag: OSStatus = -67687
public let errSecInvalidSignature: OSStatus = -67688
public let errSecInvalidName: OSStatus = -67689
public let errSecInvalidCertificateRef: OSStatus = -67690
public let errSecInvalidCertificateGroup: OSStatus = -67691
public let errSecTagNotFound: OSStatus = -67692
public let errSecInvalidQuery: OSStatus = -67693
public let errSecInvalidValue: OSStatus = -67694
public let errSecCallbackFailed: OSStatus = -67695

// MARK: Access control lists and privileges.

public let errSecACLDeleteFailed: OSStatus = -67696
public let errSecACLReplaceFailed: OSStatus = -67697
public let errSecACLAddFailed: OSStatus = -67698
public let errSecACLChangeFailed: OSStatus = -67699
public let errSecInvalidAccessCredentials: OSStatus = -67700
public let errSecInvalidRecord: OSStatus = -67701
public let errSecInvalidACL: OSStatus = -67702
public let errSecInvalidSampleValue: OSStatus = -67703
public let errSecIncompatibleVersion: OSStatus = -67704
public let errSecPrivilegeNotGranted: OSStatus = -67705
public let errSecInvalidScope: OSStatus = -67706

// MARK: Modules and their managers.

public let errSecPVCAlreadyConfigured: OSStatus = -67707
public let errSecInvalidPVC: OSStatus = -67708
public let errSecEMMLoadFailed: OSStatus = -67709
public let errSecEMMUnloadFailed: OSStatus = -67710
public let errSecAddinLoadFailed: OSStatus = -67711
public let errSecInvalidKeyRef: OSStatus = -67712
public let errSecInvalidKeyHierarchy: OSStatus = -67713
public let errSecAddinUnloadFailed: OSStatus = -67714
public let errSecLibraryReferenceNotFound: OSStatus = -67715
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
public let errSecInvalidServiceMask: OSStatus = -67717
public let errSecModuleNotLoaded: OSStatus = -67718
public let errSecInvalidSubServiceID: OSStatus = -67719
public let errSecAttributeNotInContext: OSStatus = -67720
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
public let errSecModuleManagerNotFound: OSStatus = -67722
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723

// MARK: Lengths, devices and sessions.

public let errSecInputLengthError: OSStatus = -67724
public let errSecOutputLengthError: OSStatus = -67725
public let errSecPrivilegeNotSupported: OSStatus = -67726
public let errSecDeviceError: OSStatus = -67727
public let errSecAttachHandleBusy: OSStatus = -67728
public let errSecNotLoggedIn: OSStatus = -67729

// MARK: Keys and key formats.

public let errSecAlgorithmMismatch: OSStatus = -67730
public let errSecKeyUsageIncorrect: OSStatus = -67731
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
public let errSecKeyHeaderInconsistent: OSStatus = -67733
public let errSecUnsupportedKeyFormat: OSStatus = -67734
public let errSecUnsupportedKeySize: OSStatus = -67735
public let errSecInvalidKeyUsageMask: OSStatus = -67736
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
public let errSecInvalidKeyLabel: OSStatus = -67740
public let errSecUnsupportedKeyLabel: OSStatus = -67741
public let errSecInvalidKeyFormat: OSStatus = -67742

// MARK: Vectors, contexts and algorithms.

public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
public let errSecInvalidInputVector: OSStatus = -67744
public let errSecInvalidOutputVector: OSStatus = -67745
public let errSecInvalidContext: OSStatus = -67746
public let errSecInvalidAlgorithm: OSStatus = -67747

// MARK: Names and messages.

let moduleStatuses: [KnownStatus] = [
    KnownStatus(errSecNotInitialized, "errSecNotInitialized"),
    KnownStatus(errSecInvalidHandleUsage, "errSecInvalidHandleUsage"),
    KnownStatus(errSecPVCReferentNotFound, "errSecPVCReferentNotFound"),
    KnownStatus(errSecFunctionIntegrityFail, "errSecFunctionIntegrityFail"),
    KnownStatus(errSecInternalError, "errSecInternalError", "Something went wrong inside the security library."),
    KnownStatus(errSecMemoryError, "errSecMemoryError", "A memory operation failed."),
    KnownStatus(errSecInvalidData, "errSecInvalidData"),
    KnownStatus(errSecMDSError, "errSecMDSError"),
    KnownStatus(errSecInvalidPointer, "errSecInvalidPointer"),
    KnownStatus(errSecSelfCheckFailed, "errSecSelfCheckFailed"),
    KnownStatus(errSecFunctionFailed, "errSecFunctionFailed", "The call did not do its work."),
    KnownStatus(errSecModuleManifestVerifyFailed, "errSecModuleManifestVerifyFailed"),
    KnownStatus(errSecInvalidGUID, "errSecInvalidGUID"),
    KnownStatus(errSecInvalidHandle, "errSecInvalidHandle"),
    KnownStatus(errSecInvalidDBList, "errSecInvalidDBList"),
    KnownStatus(errSecInvalidPassthroughID, "errSecInvalidPassthroughID"),
    KnownStatus(errSecInvalidNetworkAddress, "errSecInvalidNetworkAddress"),
    KnownStatus(errSecCRLAlreadySigned, "errSecCRLAlreadySigned"),
    KnownStatus(errSecInvalidNumberOfFields, "errSecInvalidNumberOfFields"),
    KnownStatus(errSecVerificationFailure, "errSecVerificationFailure", "The data did not pass verification."),
    KnownStatus(errSecUnknownTag, "errSecUnknownTag"),
    KnownStatus(errSecInvalidSignature, "errSecInvalidSignature", "The signature is not well formed."),
    KnownStatus(errSecInvalidName, "errSecInvalidName"),
    KnownStatus(errSecInvalidCertificateRef, "errSecInvalidCertificateRef", "The certificate reference is not valid."),
    KnownStatus(errSecInvalidCertificateGroup, "errSecInvalidCertificateGroup"),
    KnownStatus(errSecTagNotFound, "errSecTagNotFound"),
    KnownStatus(errSecInvalidQuery, "errSecInvalidQuery"),
    KnownStatus(errSecInvalidValue, "errSecInvalidValue"),
    KnownStatus(errSecCallbackFailed, "errSecCallbackFailed"),
    KnownStatus(errSecACLDeleteFailed, "errSecACLDeleteFailed"),
    KnownStatus(errSecACLReplaceFailed, "errSecACLReplaceFailed"),
    KnownStatus(errSecACLAddFailed, "errSecACLAddFailed"),
    KnownStatus(errSecACLChangeFailed, "errSecACLChangeFailed"),
    KnownStatus(errSecInvalidAccessCredentials, "errSecInvalidAccessCredentials"),
    KnownStatus(errSecInvalidRecord, "errSecInvalidRecord", "The record is damaged or not well formed."),
    KnownStatus(errSecInvalidACL, "errSecInvalidACL"),
    KnownStatus(errSecInvalidSampleValue, "errSecInvalidSampleValue"),
    KnownStatus(errSecIncompatibleVersion, "errSecIncompatibleVersion"),
    KnownStatus(errSecPrivilegeNotGranted, "errSecPrivilegeNotGranted"),
    KnownStatus(errSecInvalidScope, "errSecInvalidScope"),
    KnownStatus(errSecPVCAlreadyConfigured, "errSecPVCAlreadyConfigured"),
    KnownStatus(errSecInvalidPVC, "errSecInvalidPVC"),
    KnownStatus(errSecEMMLoadFailed, "errSecEMMLoadFailed"),
    KnownStatus(errSecEMMUnloadFailed, "errSecEMMUnloadFailed"),
    KnownStatus(errSecAddinLoadFailed, "errSecAddinLoadFailed"),
    KnownStatus(errSecInvalidKeyRef, "errSecInvalidKeyRef", "The key reference is not valid."),
    KnownStatus(errSecInvalidKeyHierarchy, "errSecInvalidKeyHierarchy"),
    KnownStatus(errSecAddinUnloadFailed, "errSecAddinUnloadFailed"),
    KnownStatus(errSecLibraryReferenceNotFound, "errSecLibraryReferenceNotFound"),
    KnownStatus(errSecInvalidAddinFunctionTable, "errSecInvalidAddinFunctionTable"),
    KnownStatus(errSecInvalidServiceMask, "errSecInvalidServiceMask"),
    KnownStatus(errSecModuleNotLoaded, "errSecModuleNotLoaded"),
    KnownStatus(errSecInvalidSubServiceID, "errSecInvalidSubServiceID"),
    KnownStatus(errSecAttributeNotInContext, "errSecAttributeNotInContext"),
    KnownStatus(errSecModuleManagerInitializeFailed, "errSecModuleManagerInitializeFailed"),
    KnownStatus(errSecModuleManagerNotFound, "errSecModuleManagerNotFound"),
    KnownStatus(errSecEventNotificationCallbackNotFound, "errSecEventNotificationCallbackNotFound"),
    KnownStatus(errSecInputLengthError, "errSecInputLengthError", "The input has the wrong length."),
    KnownStatus(errSecOutputLengthError, "errSecOutputLengthError", "The output has the wrong length."),
    KnownStatus(errSecPrivilegeNotSupported, "errSecPrivilegeNotSupported"),
    KnownStatus(errSecDeviceError, "errSecDeviceError"),
    KnownStatus(errSecAttachHandleBusy, "errSecAttachHandleBusy"),
    KnownStatus(errSecNotLoggedIn, "errSecNotLoggedIn"),
    KnownStatus(errSecAlgorithmMismatch, "errSecAlgorithmMismatch", "The algorithm does not fit the key."),
    KnownStatus(errSecKeyUsageIncorrect, "errSecKeyUsageIncorrect", "The key may not be used for this purpose."),
    KnownStatus(errSecKeyBlobTypeIncorrect, "errSecKeyBlobTypeIncorrect"),
    KnownStatus(errSecKeyHeaderInconsistent, "errSecKeyHeaderInconsistent"),
    KnownStatus(errSecUnsupportedKeyFormat, "errSecUnsupportedKeyFormat", "Keys in this format cannot be handled here."),
    KnownStatus(errSecUnsupportedKeySize, "errSecUnsupportedKeySize", "Keys of this size cannot be handled here."),
    KnownStatus(errSecInvalidKeyUsageMask, "errSecInvalidKeyUsageMask"),
    KnownStatus(errSecUnsupportedKeyUsageMask, "errSecUnsupportedKeyUsageMask"),
    KnownStatus(errSecInvalidKeyAttributeMask, "errSecInvalidKeyAttributeMask"),
    KnownStatus(errSecUnsupportedKeyAttributeMask, "errSecUnsupportedKeyAttributeMask"),
    KnownStatus(errSecInvalidKeyLabel, "errSecInvalidKeyLabel"),
    KnownStatus(errSecUnsupportedKeyLabel, "errSecUnsupportedKeyLabel"),
    KnownStatus(errSecInvalidKeyFormat, "errSecInvalidKeyFormat"),
    KnownStatus(errSecUnsupportedVectorOfBuffers, "errSecUnsupportedVectorOfBuffers"),
    KnownStatus(errSecInvalidInputVector, "errSecInvalidInputVector"),
    KnownStatus(errSecInvalidOutputVector, "errSecInvalidOutputVector"),
    KnownStatus(errSecInvalidContext, "errSecInvalidContext"),
    KnownStatus(errSecInvalidAlgorithm, "errSecInvalidAlgorithm", "The algorithm is not valid."),
]
