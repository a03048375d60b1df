// Statuses shared with the rest of the system, from 0 to -4960.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name
// and, where a user may read it, a sentence.

public let errSecSuccess: OSStatus = 0
public let errSecUnimplemented: OSStatus = -4
public let errSecDiskFull: OSStatus = -34
public let errSecIO: OSStatus = -36
public let errSecOpWr: OSStatus = -49
public let errSecParam: OSStatus = -50
public let errSecWrPerm: OSStatus = -61
public let errSecAllocate: OSStatus = -108
public let errSecUserCanceled: OSStatus = -128
public let errSecBadReq: OSStatus = -909
public let errSecInternalComponent: OSStatus = -2070
public let errSecCoreFoundationUnknown: OSStatus = -4960

// MARK: Names and messages.

let systemStatuses: [KnownStatus] = [
    KnownStatus(errSecSuccess, "errSecSuccess", "No error occurred."),
    KnownStatus(errSecUnimplemented, "errSecUnimplemented", "This system does not offer the function."),
    KnownStatus(errSecDiskFull, "errSecDiskFull", "The disk has no space left for the keychain."),
    KnownStatus(errSecIO, "errSecIO", "Reading or writing the keychain file failed."),
    KnownStatus(errSecOpWr, "errSecOpWr", "The keychain file is already open for writing elsewhere."),
    KnownStatus(errSecParam, "errSecParam", "The call has an argument that is missing, malformed or does not fit the others."),
    KnownStatus(errSecWrPerm, "errSecWrPerm", "The keychain file cannot be written with the present permissions."),
    KnownStatus(errSecAllocate, "errSecAllocate", "Not enough memory is available to finish the operation."),
    KnownStatus(errSecUserCanceled, "errSecUserCanceled", "The user chose to cancel."),
    KnownStatus(errSecBadReq, "errSecBadReq", "The request is malformed or does not fit the present state."),
    KnownStatus(errSecInternalComponent, "errSecInternalComponent", "A component inside the keychain failed unexpectedly."),
    KnownStatus(errSecCoreFoundationUnknown, "errSecCoreFoundationUnknown", "A Core Foundation call failed for an unknown reason."),
]
