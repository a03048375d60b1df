// Statuses shared with the rest of the system, from 0 to -9809.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name and, where a user may see it, a message.

/// No error occurred.
public let errSecSuccess: OSStatus = 0
/// The function is not supported on this system.
public let errSecUnimplemented: OSStatus = -4
/// The disk has no space left for the keychain.
public let errSecDiskFull: OSStatus = -34
/// Reading or writing the keychain file failed.
public let errSecIO: OSStatus = -36
/// The keychain file is already open for writing elsewhere.
public let errSecOpWr: OSStatus = -49
/// The call has an argument that is missing, malformed or does not fit the others.
public let errSecParam: OSStatus = -50
/// The keychain file cannot be written with the current permissions.
public let errSecWrPerm: OSStatus = -61
/// Not enough memory is available to finish the operation.
public let errSecAllocate: OSStatus = -108
/// The user cancelled.
public let errSecUserCanceled: OSStatus = -128
/// The request is malformed or does not fit the current state.
public let errSecBadReq: OSStatus = -909
/// A component inside the keychain failed unexpectedly.
public let errSecInternalComponent: OSStatus = -2070
/// A Core Foundation call failed for an unknown reason.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// The signature does not match the data and the key: the status of `SecKeyRawVerify`.
public let errSSLCrypto: OSStatus = -9809

// MARK: Names and messages.

let systemStatuses: [KnownStatus] = [
    KnownStatus(errSecSuccess, "errSecSuccess", "No error occurred."),
    KnownStatus(errSecUnimplemented, "errSecUnimplemented", "The function is not supported on this system."),
    KnownStatus(errSecDiskFull, "errSecDiskFull", "The disk has no space left for the keychain."),
    KnownStatus(errSecIO, "errSecIO", "Reading or writing the keychain file failed."),
    KnownStatus(errSecOpWr, "errSecOpWr", "The keychain file is already open for writing elsewhere."),
    KnownStatus(errSecParam, "errSecParam", "The call has an argument that is missing, malformed or does not fit the others."),
    KnownStatus(errSecWrPerm, "errSecWrPerm", "The keychain file cannot be written with the current permissions."),
    KnownStatus(errSecAllocate, "errSecAllocate", "Not enough memory is available to finish the operation."),
    KnownStatus(errSecUserCanceled, "errSecUserCanceled", "The user cancelled."),
    KnownStatus(errSecBadReq, "errSecBadReq", "The request is malformed or does not fit the current state."),
    KnownStatus(errSecInternalComponent, "errSecInternalComponent", "A component inside the keychain failed unexpectedly."),
    KnownStatus(errSecCoreFoundationUnknown, "errSecCoreFoundationUnknown", "A Core Foundation call failed for an unknown reason."),
    KnownStatus(errSSLCrypto, "errSSLCrypto", "The signature does not match the data and the key."),
]
