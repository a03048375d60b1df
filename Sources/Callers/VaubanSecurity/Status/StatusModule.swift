// Statuses of modules, handles and keys, from -67667 to -67747.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name and, where a user may see it, a message.

// MARK: Calls, memory and handles.

/// Not initialized.
public let errSecNotInitialized: OSStatus = -67667
/// Invalid handle usage.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// PVC referent not found.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// Function integrity fail.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// The security library had an internal error.
public let errSecInternalError: OSStatus = -67671
/// A memory operation failed.
public let errSecMemoryError: OSStatus = -67672
/// Invalid data.
public let errSecInvalidData: OSStatus = -67673
/// MDS error.
public let errSecMDSError: OSStatus = -67674
/// Invalid pointer.
public let errSecInvalidPointer: OSStatus = -67675
/// Self check failed.
public let errSecSelfCheckFailed: OSStatus = -67676
/// The function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// Module manifest verify failed.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// Invalid GUID.
public let errSecInvalidGUID: OSStatus = -67679
/// Invalid handle.
public let errSecInvalidHandle: OSStatus = -67680
/// Invalid DB list.
public let errSecInvalidDBList: OSStatus = -67681
/// Invalid passthrough ID.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// Invalid network address.
public let errSecInvalidNetworkAddress: OSStatus = -67683

// MARK: Signatures, certificates and values.

/// CRL already signed.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// Invalid number of fields.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// The data did not pass verification.
public let errSecVerificationFailure: OSStatus = -67686
/// Unknown tag.
public let errSecUnknownTag: OSStatus = -67687
/// The signature is not well formed.
public let errSecInvalidSignature: OSStatus = -67688
/// Invalid name.
public let errSecInvalidName: OSStatus = -67689
/// The certificate reference is not valid.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// Invalid certificate group.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// Tag not found.
public let errSecTagNotFound: OSStatus = -67692
/// Invalid query.
public let errSecInvalidQuery: OSStatus = -67693
/// Invalid value.
public let errSecInvalidValue: OSStatus = -67694
/// Callback failed.
public let errSecCallbackFailed: OSStatus = -67695

// MARK: Access control lists and privileges.

/// ACL delete failed.
public let errSecACLDeleteFailed: OSStatus = -67696
/// ACL replace failed.
public let errSecACLReplaceFailed: OSStatus = -67697
/// ACL add failed.
public let errSecACLAddFailed: OSStatus = -67698
/// ACL change failed.
public let errSecACLChangeFailed: OSStatus = -67699
/// Invalid access credentials.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// The record is damaged or not well formed.
public let errSecInvalidRecord: OSStatus = -67701
/// Invalid ACL.
public let errSecInvalidACL: OSStatus = -67702
/// Invalid sample value.
public let errSecInvalidSampleValue: OSStatus = -67703
/// Incompatible version.
public let errSecIncompatibleVersion: OSStatus = -67704
/// Privilege not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// Invalid scope.
public let errSecInvalidScope: OSStatus = -67706

// MARK: Modules and their managers.

/// PVC already configured.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// Invalid PVC.
public let errSecInvalidPVC: OSStatus = -67708
/// EMM load failed.
public let errSecEMMLoadFailed: OSStatus = -67709
/// EMM unload failed.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// Addin load failed.
public let errSecAddinLoadFailed: OSStatus = -67711
/// The key reference is not valid.
public let errSecInvalidKeyRef: OSStatus = -67712
/// Invalid key hierarchy.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// Addin unload failed.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// Library reference not found.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// Invalid addin function table.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// Invalid service mask.
public let errSecInvalidServiceMask: OSStatus = -67717
/// Module not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// Invalid sub service ID.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// Attribute not in context.
public let errSecAttributeNotInContext: OSStatus = -67720
/// Module manager initialize failed.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// Module manager not found.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// Event notification callback not found.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723

// MARK: Lengths, devices and sessions.

/// The input has the wrong length.
public let errSecInputLengthError: OSStatus = -67724
/// The output has the wrong length.
public let errSecOutputLengthError: OSStatus = -67725
/// Privilege not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// Device error.
public let errSecDeviceError: OSStatus = -67727
/// Attach handle busy.
public let errSecAttachHandleBusy: OSStatus = -67728
/// Not logged in.
public let errSecNotLoggedIn: OSStatus = -67729

// MARK: Keys and key formats.

/// The algorithm does not fit the key.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// The key may not be used for this purpose.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// Key blob type incorrect.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// Key header inconsistent.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// Keys in this format are not supported.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// Keys of this size are not supported.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// Invalid key usage mask.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// Unsupported key usage mask.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// Invalid key attribute mask.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// Unsupported key attribute mask.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// Invalid key label.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// Unsupported key label.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// Invalid key format.
public let errSecInvalidKeyFormat: OSStatus = -67742

// MARK: Vectors, contexts and algorithms.

/// Unsupported vector of buffers.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// Invalid input vector.
public let errSecInvalidInputVector: OSStatus = -67744
/// Invalid output vector.
public let errSecInvalidOutputVector: OSStatus = -67745
/// Invalid context.
public let errSecInvalidContext: OSStatus = -67746
/// The algorithm is not valid.
public let errSecInvalidAlgorithm: OSStatus = -67747

// MARK: Names and messages.

let moduleStatuses: [KnownStatus] = [
    KnownStatus(errSecNotInitialized, "errSecNotInitialized"),
    KnownStatus(errSecInvalidHandleUsage, "errSecInvalidHandleUsage"),
    KnownStatus(errSecPVCReferentNotFound, "errSecPVCReferentNotFound"),
    KnownStatus(errSecFunctionIntegrityFail, "errSecFunctionIntegrityFail"),
    KnownStatus(errSecInternalError, "errSecInternalError", "The security library had an internal error."),
    KnownStatus(errSecMemoryError, "errSecMemoryError", "A memory operation failed."),
    KnownStatus(errSecInvalidData, "errSecInvalidData"),
    KnownStatus(errSecMDSError, "errSecMDSError"),
    KnownStatus(errSecInvalidPointer, "errSecInvalidPointer"),
    KnownStatus(errSecSelfCheckFailed, "errSecSelfCheckFailed"),
    KnownStatus(errSecFunctionFailed, "errSecFunctionFailed", "The function failed."),
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
    KnownStatus(errSecUnsupportedKeyFormat, "errSecUnsupportedKeyFormat", "Keys in this format are not supported."),
    KnownStatus(errSecUnsupportedKeySize, "errSecUnsupportedKeySize", "Keys of this size are not supported."),
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
