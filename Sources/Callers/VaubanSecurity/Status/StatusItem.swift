// Statuses of decoding (-26265 to -26276) and of item queries (-34000 to -34020).
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name
// and, where a user may read it, a sentence.
//
// Most of these names stand in the private `SecBasePriv.h`, which today folds them into
// `errSecParam`, `errSecUnimplemented` or `errSecDecode`. Here each keeps its own historic
// number, the one that callers compare with.

// MARK: Decoding, keys and algorithms.

public let errSecInvalidCertificate: OSStatus = -26265
public let errSecNotSigner: OSStatus = -26267
public let errSecUnsupportedAlgorithm: OSStatus = -26268
public let errSecPolicyDenied: OSStatus = -26270
public let errSecUnsupportedOperation: OSStatus = -26271
public let errSecUnsupportedPadding: OSStatus = -26273
public let errSecInvalidKey: OSStatus = -26274
public let errSecDecode: OSStatus = -26275
public let errSecInternal: OSStatus = -26276

// MARK: Queries that ask for something a call cannot do.

public let errSecItemInvalidKey: OSStatus = -34000
public let errSecItemInvalidKeyType: OSStatus = -34001
public let errSecItemInvalidValue: OSStatus = -34002
public let errSecItemClassMissing: OSStatus = -34003
public let errSecItemMatchUnsupported: OSStatus = -34004
public let errSecUseItemListUnsupported: OSStatus = -34005
public let errSecUseKeychainUnsupported: OSStatus = -34006
public let errSecUseKeychainListUnsupported: OSStatus = -34007
public let errSecReturnDataUnsupported: OSStatus = -34008
public let errSecReturnAttributesUnsupported: OSStatus = -34009
public let errSecReturnRefUnsupported: OSStatus = -34010
public let errSecReturnPersitentRefUnsupported: OSStatus = -34011
public let errSecValueRefUnsupported: OSStatus = -34012
public let errSecValuePersistentRefUnsupported: OSStatus = -34013
public let errSecReturnMissingPointer: OSStatus = -34014
public let errSecMatchLimitUnsupported: OSStatus = -34015
public let errSecItemIllegalQuery: OSStatus = -34016

// MARK: Queries that the caller may not, or cannot yet, make.

public let errSecWaitForCallback: OSStatus = -34017
public let errSecMissingEntitlement: OSStatus = -34018
public let errSecUpgradePending: OSStatus = -34019
public let errSecRestrictedAPI: OSStatus = -34020

// MARK: Names and messages.

let itemStatuses: [KnownStatus] = [
    KnownStatus(errSecInvalidCertificate, "errSecInvalidCertificate", "These bytes are not a well-formed certificate."),
    KnownStatus(errSecNotSigner, "errSecNotSigner", "The proposed parent did not issue this certificate."),
    KnownStatus(errSecUnsupportedAlgorithm, "errSecUnsupportedAlgorithm", "This algorithm is not offered."),
    KnownStatus(errSecPolicyDenied, "errSecPolicyDenied", "The trust policy refused the request."),
    KnownStatus(errSecUnsupportedOperation, "errSecUnsupportedOperation", "The key does not support this operation."),
    KnownStatus(errSecUnsupportedPadding, "errSecUnsupportedPadding", "This kind of padding is not offered."),
    KnownStatus(errSecInvalidKey, "errSecInvalidKey", "These bytes do not form a key."),
    KnownStatus(errSecDecode, "errSecDecode", "The stored or supplied data cannot be decoded."),
    KnownStatus(errSecInternal, "errSecInternal", "The security library met an internal error."),
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
    KnownStatus(errSecWaitForCallback, "errSecWaitForCallback", "The operation goes on and will finish with its callback."),
    KnownStatus(errSecMissingEntitlement, "errSecMissingEntitlement", "The program lacks an entitlement that this request needs."),
    KnownStatus(errSecUpgradePending, "errSecUpgradePending", "The keychain must be upgraded first, which needs an unlocked device."),
    KnownStatus(errSecRestrictedAPI, "errSecRestrictedAPI", "The program is confined and may not do this."),
]
