// Statuses of the keychain itself, from -25240 to -25330.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name and, where a user may see it, a message.

// MARK: Access control lists, trust settings and exchange formats.

/// ACL not simple.
public let errSecACLNotSimple: OSStatus = -25240
/// Policy not found.
public let errSecPolicyNotFound: OSStatus = -25241
/// Invalid trust setting.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// No access for item.
public let errSecNoAccessForItem: OSStatus = -25243
/// Invalid owner edit.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// Trust not available.
public let errSecTrustNotAvailable: OSStatus = -25245
/// The data has an unsupported format.
public let errSecUnsupportedFormat: OSStatus = -25256
/// The format of the data could not be recognized.
public let errSecUnknownFormat: OSStatus = -25257
/// The key may leave the keychain only in wrapped form.
public let errSecKeyIsSensitive: OSStatus = -25258
/// Multiple priv keys.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// A passphrase is needed to read or write this data.
public let errSecPassphraseRequired: OSStatus = -25260
/// The password reference does not refer to a usable password.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// Invalid trust settings.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// No trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// The PKCS #12 data could not be verified; the passphrase may be wrong.
public let errSecPkcs12VerifyFailure: OSStatus = -25264

// MARK: The keychain and its items.

/// No keychain is available; the keychain service may not be running.
public let errSecNotAvailable: OSStatus = -25291
/// The keychain can be read but not changed.
public let errSecReadOnly: OSStatus = -25292
/// Authentication failed, or access to the item was refused.
public let errSecAuthFailed: OSStatus = -25293
/// There is no keychain with that name.
public let errSecNoSuchKeychain: OSStatus = -25294
/// The keychain file is damaged or is not a keychain.
public let errSecInvalidKeychain: OSStatus = -25295
/// Another keychain has the same name.
public let errSecDuplicateKeychain: OSStatus = -25296
/// That callback is already registered.
public let errSecDuplicateCallback: OSStatus = -25297
/// That callback is not registered or cannot be used.
public let errSecInvalidCallback: OSStatus = -25298
/// An item with the same key attributes is already in the keychain.
public let errSecDuplicateItem: OSStatus = -25299
/// No keychain item matches the request.
public let errSecItemNotFound: OSStatus = -25300
/// The supplied buffer is too small for the result.
public let errSecBufferTooSmall: OSStatus = -25301
/// The data is too large for this kind of item.
public let errSecDataTooLarge: OSStatus = -25302
/// This kind of item has no such attribute.
public let errSecNoSuchAttr: OSStatus = -25303
/// The item reference is not valid, or its item no longer exists.
public let errSecInvalidItemRef: OSStatus = -25304
/// The search reference is not valid, or its search has ended.
public let errSecInvalidSearchRef: OSStatus = -25305
/// There is no such item class.
public let errSecNoSuchClass: OSStatus = -25306
/// No default keychain has been chosen.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// The user must unlock the device or answer a prompt, but interaction is not allowed now.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// This attribute cannot be changed.
public let errSecReadOnlyAttr: OSStatus = -25309
/// The keychain was written by an incompatible version.
public let errSecWrongSecVersion: OSStatus = -25310
/// Keys of this size are not allowed.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// The storage module is missing.
public let errSecNoStorageModule: OSStatus = -25312
/// The certificate module is missing.
public let errSecNoCertificateModule: OSStatus = -25313
/// The policy module is missing.
public let errSecNoPolicyModule: OSStatus = -25314
/// The user must confirm this, but a prompt is not possible now.
public let errSecInteractionRequired: OSStatus = -25315
/// The item exists, but its data is not available.
public let errSecDataNotAvailable: OSStatus = -25316
/// The data of this item cannot be changed.
public let errSecDataNotModifiable: OSStatus = -25317
/// A certificate needed to complete the chain is missing.
public let errSecCreateChainFailed: OSStatus = -25318
/// There is no preferences domain of this kind.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// A prompt is not possible while the display is asleep.
public let errSecInDarkWake: OSStatus = -25320

// MARK: Messages between devices of one user, from the private `SecBasePriv.h`.

/// The signature on the multi-party message is wrong.
public let errSecMPSignatureInvalid: OSStatus = -25327
/// The message arrived too late to be accepted.
public let errSecOTRTooOld: OSStatus = -25328
/// The message refers to a key that is newer than any known one.
public let errSecOTRIDTooNew: OSStatus = -25329
/// The keychain service requests that its client library authenticate the user first. Apple keeps this status private, and so does this
/// package: no caller ever receives it.
package let errSecAuthNeeded: OSStatus = -25330

// MARK: Names and messages.

let keychainStatuses: [KnownStatus] = [
    KnownStatus(errSecACLNotSimple, "errSecACLNotSimple"),
    KnownStatus(errSecPolicyNotFound, "errSecPolicyNotFound"),
    KnownStatus(errSecInvalidTrustSetting, "errSecInvalidTrustSetting"),
    KnownStatus(errSecNoAccessForItem, "errSecNoAccessForItem"),
    KnownStatus(errSecInvalidOwnerEdit, "errSecInvalidOwnerEdit"),
    KnownStatus(errSecTrustNotAvailable, "errSecTrustNotAvailable"),
    KnownStatus(errSecUnsupportedFormat, "errSecUnsupportedFormat", "The data has an unsupported format."),
    KnownStatus(errSecUnknownFormat, "errSecUnknownFormat", "The format of the data could not be recognized."),
    KnownStatus(errSecKeyIsSensitive, "errSecKeyIsSensitive", "The key may leave the keychain only in wrapped form."),
    KnownStatus(errSecMultiplePrivKeys, "errSecMultiplePrivKeys"),
    KnownStatus(errSecPassphraseRequired, "errSecPassphraseRequired", "A passphrase is needed to read or write this data."),
    KnownStatus(errSecInvalidPasswordRef, "errSecInvalidPasswordRef", "The password reference does not refer to a usable password."),
    KnownStatus(errSecInvalidTrustSettings, "errSecInvalidTrustSettings"),
    KnownStatus(errSecNoTrustSettings, "errSecNoTrustSettings"),
    KnownStatus(
        errSecPkcs12VerifyFailure, "errSecPkcs12VerifyFailure",
        "The PKCS #12 data could not be verified; the passphrase may be wrong."),
    KnownStatus(errSecNotAvailable, "errSecNotAvailable", "No keychain is available; the keychain service may not be running."),
    KnownStatus(errSecReadOnly, "errSecReadOnly", "The keychain can be read but not changed."),
    KnownStatus(errSecAuthFailed, "errSecAuthFailed", "Authentication failed, or access to the item was refused."),
    KnownStatus(errSecNoSuchKeychain, "errSecNoSuchKeychain", "There is no keychain with that name."),
    KnownStatus(errSecInvalidKeychain, "errSecInvalidKeychain", "The keychain file is damaged or is not a keychain."),
    KnownStatus(errSecDuplicateKeychain, "errSecDuplicateKeychain", "Another keychain has the same name."),
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
        "The user must unlock the device or answer a prompt, but interaction is not allowed now."),
    KnownStatus(errSecReadOnlyAttr, "errSecReadOnlyAttr", "This attribute cannot be changed."),
    KnownStatus(errSecWrongSecVersion, "errSecWrongSecVersion", "The keychain was written by an incompatible version."),
    KnownStatus(errSecKeySizeNotAllowed, "errSecKeySizeNotAllowed", "Keys of this size are not allowed."),
    KnownStatus(errSecNoStorageModule, "errSecNoStorageModule", "The storage module is missing."),
    KnownStatus(errSecNoCertificateModule, "errSecNoCertificateModule", "The certificate module is missing."),
    KnownStatus(errSecNoPolicyModule, "errSecNoPolicyModule", "The policy module is missing."),
    KnownStatus(errSecInteractionRequired, "errSecInteractionRequired", "The user must confirm this, but a prompt is not possible now."),
    KnownStatus(errSecDataNotAvailable, "errSecDataNotAvailable", "The item exists, but its data is not available."),
    KnownStatus(errSecDataNotModifiable, "errSecDataNotModifiable", "The data of this item cannot be changed."),
    KnownStatus(errSecCreateChainFailed, "errSecCreateChainFailed", "A certificate needed to complete the chain is missing."),
    KnownStatus(errSecInvalidPrefsDomain, "errSecInvalidPrefsDomain", "There is no preferences domain of this kind."),
    KnownStatus(errSecInDarkWake, "errSecInDarkWake", "A prompt is not possible while the display is asleep."),
    KnownStatus(errSecMPSignatureInvalid, "errSecMPSignatureInvalid", "The signature on the multi-party message is wrong."),
    KnownStatus(errSecOTRTooOld, "errSecOTRTooOld", "The message arrived too late to be accepted."),
    KnownStatus(errSecOTRIDTooNew, "errSecOTRIDTooNew", "The message refers to a key that is newer than any known one."),
    KnownStatus(errSecAuthNeeded, "errSecAuthNeeded", "The user must authenticate before this item can be used."),
]
