// Statuses of the keychain itself, from -25240 to -25330.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name
// and, where a user may read it, a sentence.

// MARK: Access control lists, trust settings and exchange formats.

public let errSecACLNotSimple: OSStatus = -25240
public let errSecPolicyNotFound: OSStatus = -25241
public let errSecInvalidTrustSetting: OSStatus = -25242
public let errSecNoAccessForItem: OSStatus = -25243
public let errSecInvalidOwnerEdit: OSStatus = -25244
public let errSecTrustNotAvailable: OSStatus = -25245
public let errSecUnsupportedFormat: OSStatus = -25256
public let errSecUnknownFormat: OSStatus = -25257
public let errSecKeyIsSensitive: OSStatus = -25258
public let errSecMultiplePrivKeys: OSStatus = -25259
public let errSecPassphraseRequired: OSStatus = -25260
public let errSecInvalidPasswordRef: OSStatus = -25261
public let errSecInvalidTrustSettings: OSStatus = -25262
public let errSecNoTrustSettings: OSStatus = -25263
public let errSecPkcs12VerifyFailure: OSStatus = -25264

// MARK: The keychain and its items.

public let errSecNotAvailable: OSStatus = -25291
public let errSecReadOnly: OSStatus = -25292
public let errSecAuthFailed: OSStatus = -25293
public let errSecNoSuchKeychain: OSStatus = -25294
public let errSecInvalidKeychain: OSStatus = -25295
public let errSecDuplicateKeychain: OSStatus = -25296
public let errSecDuplicateCallback: OSStatus = -25297
public let errSecInvalidCallback: OSStatus = -25298
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300
public let errSecBufferTooSmall: OSStatus = -25301
public let errSecDataTooLarge: OSStatus = -25302
public let errSecNoSuchAttr: OSStatus = -25303
public let errSecInvalidItemRef: OSStatus = -25304
public let errSecInvalidSearchRef: OSStatus = -25305
public let errSecNoSuchClass: OSStatus = -25306
public let errSecNoDefaultKeychain: OSStatus = -25307
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecReadOnlyAttr: OSStatus = -25309
public let errSecWrongSecVersion: OSStatus = -25310
public let errSecKeySizeNotAllowed: OSStatus = -25311
public let errSecNoStorageModule: OSStatus = -25312
public let errSecNoCertificateModule: OSStatus = -25313
public let errSecNoPolicyModule: OSStatus = -25314
public let errSecInteractionRequired: OSStatus = -25315
public let errSecDataNotAvailable: OSStatus = -25316
public let errSecDataNotModifiable: OSStatus = -25317
public let errSecCreateChainFailed: OSStatus = -25318
public let errSecInvalidPrefsDomain: OSStatus = -25319
public let errSecInDarkWake: OSStatus = -25320

// MARK: Messages between devices of one owner, from the private `SecBasePriv.h`.

public let errSecMPSignatureInvalid: OSStatus = -25327
public let errSecOTRTooOld: OSStatus = -25328
public let errSecOTRIDTooNew: OSStatus = -25329
/// The keychain service asks its client library to authenticate the user first. Apple keeps
/// this status private, and so does this package: no caller ever sees it.
package let errSecAuthNeeded: OSStatus = -25330

// MARK: Names and messages.

let keychainStatuses: [KnownStatus] = [
    KnownStatus(errSecACLNotSimple, "errSecACLNotSimple"),
    KnownStatus(errSecPolicyNotFound, "errSecPolicyNotFound"),
    KnownStatus(errSecInvalidTrustSetting, "errSecInvalidTrustSetting"),
    KnownStatus(errSecNoAccessForItem, "errSecNoAccessForItem"),
    KnownStatus(errSecInvalidOwnerEdit, "errSecInvalidOwnerEdit"),
    KnownStatus(errSecTrustNotAvailable, "errSecTrustNotAvailable"),
    KnownStatus(errSecUnsupportedFormat, "errSecUnsupportedFormat", "The data has a format that cannot be read or written here."),
    KnownStatus(errSecUnknownFormat, "errSecUnknownFormat", "The format of the data could not be recognized."),
    KnownStatus(errSecKeyIsSensitive, "errSecKeyIsSensitive", "The key may leave the keychain only in wrapped form."),
    KnownStatus(errSecMultiplePrivKeys, "errSecMultiplePrivKeys"),
    KnownStatus(errSecPassphraseRequired, "errSecPassphraseRequired", "A passphrase is needed to read or write this data."),
    KnownStatus(errSecInvalidPasswordRef, "errSecInvalidPasswordRef", "The password reference does not name a usable password."),
    KnownStatus(errSecInvalidTrustSettings, "errSecInvalidTrustSettings"),
    KnownStatus(errSecNoTrustSettings, "errSecNoTrustSettings"),
    KnownStatus(
        errSecPkcs12VerifyFailure, "errSecPkcs12VerifyFailure",
        "The PKCS #12 data could not be verified; the passphrase may be wrong."),
    KnownStatus(errSecNotAvailable, "errSecNotAvailable", "No keychain is available; the keychain service may not be running."),
    KnownStatus(errSecReadOnly, "errSecReadOnly", "The keychain can be read but not changed."),
    KnownStatus(errSecAuthFailed, "errSecAuthFailed", "Authentication failed, or access to the item was refused."),
    KnownStatus(errSecNoSuchKeychain, "errSecNoSuchKeychain", "There is no keychain under that name."),
    KnownStatus(errSecInvalidKeychain, "errSecInvalidKeychain", "The keychain file is damaged or is not a keychain."),
    KnownStatus(errSecDuplicateKeychain, "errSecDuplicateKeychain", "The name is taken by another keychain."),
    KnownStatus(errSecDuplicateCallback, "errSecDuplicateCallback", "That callback is already registered."),
    KnownStatus(errSecInvalidCallback, "errSecInvalidCallback", "That callback is not registered or cannot be used."),
    KnownStatus(errSecDuplicateItem, "errSecDuplicateItem", "An item with the same key attributes is already in the keychain."),
    KnownStatus(errSecItemNotFound, "errSecItemNotFound", "No keychain item matches the request."),
    KnownStatus(errSecBufferTooSmall, "errSecBufferTooSmall", "The supplied buffer is too small for the result."),
    KnownStatus(errSecDataTooLarge, "errSecDataTooLarge", "The data is too large for this kind of item."),
    KnownStatus(errSecNoSuchAttr, "errSecNoSuchAttr", "This kind of item has no such attribute."),
    KnownStatus(errSecInvalidItemRef, "errSecInvalidItemRef", "The item reference is not valid, or its item is gone."),
    KnownStatus(errSecInvalidSearchRef, "errSecInvalidSearchRef", "The search reference is not valid, or its search has ended."),
    KnownStatus(errSecNoSuchClass, "errSecNoSuchClass", "There is no such item class."),
    KnownStatus(errSecNoDefaultKeychain, "errSecNoDefaultKeychain", "No default keychain has been chosen."),
    KnownStatus(
        errSecInteractionNotAllowed, "errSecInteractionNotAllowed",
        "The user must unlock the device or confirm, but interaction is not allowed now."),
    KnownStatus(errSecReadOnlyAttr, "errSecReadOnlyAttr", "This attribute cannot be changed."),
    KnownStatus(errSecWrongSecVersion, "errSecWrongSecVersion", "The keychain was written by an incompatible version."),
    KnownStatus(errSecKeySizeNotAllowed, "errSecKeySizeNotAllowed", "Keys of this size are not allowed."),
    KnownStatus(errSecNoStorageModule, "errSecNoStorageModule", "The storage module is missing."),
    KnownStatus(errSecNoCertificateModule, "errSecNoCertificateModule", "The certificate module is missing."),
    KnownStatus(errSecNoPolicyModule, "errSecNoPolicyModule", "The policy module is missing."),
    KnownStatus(errSecInteractionRequired, "errSecInteractionRequired", "The user has to confirm this, but cannot be asked at the moment."),
    KnownStatus(errSecDataNotAvailable, "errSecDataNotAvailable", "The item exists, but its secret is out of reach."),
    KnownStatus(errSecDataNotModifiable, "errSecDataNotModifiable", "The secret of this item is fixed."),
    KnownStatus(errSecCreateChainFailed, "errSecCreateChainFailed", "A certificate needed to complete the chain is missing."),
    KnownStatus(errSecInvalidPrefsDomain, "errSecInvalidPrefsDomain", "There is no preferences domain of this kind."),
    KnownStatus(errSecInDarkWake, "errSecInDarkWake", "The user cannot be asked while the display is asleep."),
    KnownStatus(errSecMPSignatureInvalid, "errSecMPSignatureInvalid", "The signature on the multi-party message is wrong."),
    KnownStatus(errSecOTRTooOld, "errSecOTRTooOld", "The message arrived too late to be accepted."),
    KnownStatus(errSecOTRIDTooNew, "errSecOTRIDTooNew", "The message names a key that is newer than any known one."),
    KnownStatus(errSecAuthNeeded, "errSecAuthNeeded", "The user has to authenticate before this item can be used."),
]
