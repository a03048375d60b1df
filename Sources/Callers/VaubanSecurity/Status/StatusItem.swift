// Statuses of decoding (-26265 to -26276) and of item queries (-34000 to -34020).
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name and, where a user may see it, a message.
//
// Most of these names are in the private `SecBasePriv.h`, which now folds them into `errSecParam`, `errSecUnimplemented` or `errSecDecode`.
// Here each keeps its historic number, with which callers compare.

// MARK: Decoding, keys and algorithms.

/// The data is not a well-formed certificate.
public let errSecInvalidCertificate: OSStatus = -26265
/// The proposed parent did not issue this certificate.
public let errSecNotSigner: OSStatus = -26267
/// This algorithm is not supported.
public let errSecUnsupportedAlgorithm: OSStatus = -26268
/// The trust policy refused the request.
public let errSecPolicyDenied: OSStatus = -26270
/// The key does not support this operation.
public let errSecUnsupportedOperation: OSStatus = -26271
/// This padding is not supported.
public let errSecUnsupportedPadding: OSStatus = -26273
/// The data is not a key.
public let errSecInvalidKey: OSStatus = -26274
/// The stored or supplied data cannot be decoded.
public let errSecDecode: OSStatus = -26275
/// The security library had an internal error.
public let errSecInternal: OSStatus = -26276

// MARK: Queries that a call does not support.

/// The query has a key that is not recognized.
public let errSecItemInvalidKey: OSStatus = -34000
/// The query has a key of the wrong type.
public let errSecItemInvalidKeyType: OSStatus = -34001
/// The query has a value of the wrong type.
public let errSecItemInvalidValue: OSStatus = -34002
/// The query does not name an item class.
public let errSecItemClassMissing: OSStatus = -34003
/// Match keys cannot be used in this call.
public let errSecItemMatchUnsupported: OSStatus = -34004
/// An item list cannot be used in this call.
public let errSecUseItemListUnsupported: OSStatus = -34005
/// A keychain cannot be named in this call.
public let errSecUseKeychainUnsupported: OSStatus = -34006
/// A list of keychains cannot be named in this call.
public let errSecUseKeychainListUnsupported: OSStatus = -34007
/// This call cannot return data.
public let errSecReturnDataUnsupported: OSStatus = -34008
/// This call cannot return attributes.
public let errSecReturnAttributesUnsupported: OSStatus = -34009
/// This call cannot return a reference.
public let errSecReturnRefUnsupported: OSStatus = -34010
/// This call cannot return a persistent reference.
public let errSecReturnPersitentRefUnsupported: OSStatus = -34011
/// This call does not take a reference.
public let errSecValueRefUnsupported: OSStatus = -34012
/// This call does not take a persistent reference.
public let errSecValuePersistentRefUnsupported: OSStatus = -34013
/// A result was requested, but there is nowhere to put it.
public let errSecReturnMissingPointer: OSStatus = -34014
/// A match limit cannot be used in this call.
public let errSecMatchLimitUnsupported: OSStatus = -34015
/// The query has too many keys.
public let errSecItemIllegalQuery: OSStatus = -34016

// MARK: Queries that are forbidden, or not yet possible.

/// The operation continues and will finish with its callback.
public let errSecWaitForCallback: OSStatus = -34017
/// The program lacks an entitlement that this request needs.
public let errSecMissingEntitlement: OSStatus = -34018
/// The keychain must be upgraded first, which needs an unlocked device.
public let errSecUpgradePending: OSStatus = -34019
/// The program is sandboxed and may not do this.
public let errSecRestrictedAPI: OSStatus = -34020

// MARK: Names and messages.

let itemStatuses: [KnownStatus] = [
    KnownStatus(errSecInvalidCertificate, "errSecInvalidCertificate", "The data is not a well-formed certificate."),
    KnownStatus(errSecNotSigner, "errSecNotSigner", "The proposed parent did not issue this certificate."),
    KnownStatus(errSecUnsupportedAlgorithm, "errSecUnsupportedAlgorithm", "This algorithm is not supported."),
    KnownStatus(errSecPolicyDenied, "errSecPolicyDenied", "The trust policy refused the request."),
    KnownStatus(errSecUnsupportedOperation, "errSecUnsupportedOperation", "The key does not support this operation."),
    KnownStatus(errSecUnsupportedPadding, "errSecUnsupportedPadding", "This padding is not supported."),
    KnownStatus(errSecInvalidKey, "errSecInvalidKey", "The data is not a key."),
    KnownStatus(errSecDecode, "errSecDecode", "The stored or supplied data cannot be decoded."),
    KnownStatus(errSecInternal, "errSecInternal", "The security library had an internal error."),
    KnownStatus(errSecItemInvalidKey, "errSecItemInvalidKey", "The query has a key that is not recognized."),
    KnownStatus(errSecItemInvalidKeyType, "errSecItemInvalidKeyType", "The query has a key of the wrong type."),
    KnownStatus(errSecItemInvalidValue, "errSecItemInvalidValue", "The query has a value of the wrong type."),
    KnownStatus(errSecItemClassMissing, "errSecItemClassMissing", "The query does not name an item class."),
    KnownStatus(errSecItemMatchUnsupported, "errSecItemMatchUnsupported", "Match keys cannot be used in this call."),
    KnownStatus(errSecUseItemListUnsupported, "errSecUseItemListUnsupported", "An item list cannot be used in this call."),
    KnownStatus(errSecUseKeychainUnsupported, "errSecUseKeychainUnsupported", "A keychain cannot be named in this call."),
    KnownStatus(errSecUseKeychainListUnsupported, "errSecUseKeychainListUnsupported", "A list of keychains cannot be named in this call."),
    KnownStatus(errSecReturnDataUnsupported, "errSecReturnDataUnsupported", "This call cannot return data."),
    KnownStatus(errSecReturnAttributesUnsupported, "errSecReturnAttributesUnsupported", "This call cannot return attributes."),
    KnownStatus(errSecReturnRefUnsupported, "errSecReturnRefUnsupported", "This call cannot return a reference."),
    KnownStatus(
        errSecReturnPersitentRefUnsupported, "errSecReturnPersitentRefUnsupported",
        "This call cannot return a persistent reference."),
    KnownStatus(errSecValueRefUnsupported, "errSecValueRefUnsupported", "This call does not take a reference."),
    KnownStatus(
        errSecValuePersistentRefUnsupported, "errSecValuePersistentRefUnsupported",
        "This call does not take a persistent reference."),
    KnownStatus(errSecReturnMissingPointer, "errSecReturnMissingPointer", "A result was requested, but there is nowhere to put it."),
    KnownStatus(errSecMatchLimitUnsupported, "errSecMatchLimitUnsupported", "A match limit cannot be used in this call."),
    KnownStatus(errSecItemIllegalQuery, "errSecItemIllegalQuery", "The query has too many keys."),
    KnownStatus(errSecWaitForCallback, "errSecWaitForCallback", "The operation continues and will finish with its callback."),
    KnownStatus(errSecMissingEntitlement, "errSecMissingEntitlement", "The program lacks an entitlement that this request needs."),
    KnownStatus(errSecUpgradePending, "errSecUpgradePending", "The keychain must be upgraded first, which needs an unlocked device."),
    KnownStatus(errSecRestrictedAPI, "errSecRestrictedAPI", "The program is sandboxed and may not do this."),
]
