// Statuses of algorithm attributes, from -67748 to -67811.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name and, where a user may see it, a message.

// MARK: Attributes of a cryptographic context, each as an invalid and a missing one.

/// Invalid attribute key.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// Missing attribute key.
public let errSecMissingAttributeKey: OSStatus = -67749
/// Invalid attribute init vector.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// Missing attribute init vector.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// Invalid attribute salt.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// Missing attribute salt.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// Invalid attribute padding.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// Missing attribute padding.
public let errSecMissingAttributePadding: OSStatus = -67755
/// Invalid attribute random.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// Missing attribute random.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// Invalid attribute seed.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// Missing attribute seed.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// Invalid attribute passphrase.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// Missing attribute passphrase.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// Invalid attribute key length.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// Missing attribute key length.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// Invalid attribute block size.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// Missing attribute block size.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// Invalid attribute output size.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// Missing attribute output size.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// Invalid attribute rounds.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// Missing attribute rounds.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// Invalid algorithm parms.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// Missing algorithm parms.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// Invalid attribute label.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// Missing attribute label.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// Invalid attribute key type.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// Missing attribute key type.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// Invalid attribute mode.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// Missing attribute mode.
public let errSecMissingAttributeMode: OSStatus = -67777
/// Invalid attribute effective bits.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// Missing attribute effective bits.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// Invalid attribute start date.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// Missing attribute start date.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// Invalid attribute end date.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// Missing attribute end date.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// Invalid attribute version.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// Missing attribute version.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// Invalid attribute prime.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// Missing attribute prime.
public let errSecMissingAttributePrime: OSStatus = -67787
/// Invalid attribute base.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// Missing attribute base.
public let errSecMissingAttributeBase: OSStatus = -67789
/// Invalid attribute subprime.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// Missing attribute subprime.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// Invalid attribute iteration count.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// Missing attribute iteration count.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// Invalid attribute DLDB handle.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// Missing attribute DLDB handle.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// Invalid attribute access credentials.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// Missing attribute access credentials.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// Invalid attribute public key format.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// Missing attribute public key format.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// Invalid attribute private key format.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// Missing attribute private key format.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// Invalid attribute symmetric key format.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// Missing attribute symmetric key format.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// Invalid attribute wrapped key format.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// Missing attribute wrapped key format.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805

// MARK: Staged operations and their outcome.

/// Staged operation in progress.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// Staged operation not started.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// The signature does not match the data and the key.
public let errSecVerifyFailed: OSStatus = -67808
/// Query size unknown.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// The block size does not fit the algorithm.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// The parts of the public key do not fit together.
public let errSecPublicKeyInconsistent: OSStatus = -67811

// MARK: Names and messages.

let attributeStatuses: [KnownStatus] = [
    KnownStatus(errSecInvalidAttributeKey, "errSecInvalidAttributeKey"),
    KnownStatus(errSecMissingAttributeKey, "errSecMissingAttributeKey"),
    KnownStatus(errSecInvalidAttributeInitVector, "errSecInvalidAttributeInitVector"),
    KnownStatus(errSecMissingAttributeInitVector, "errSecMissingAttributeInitVector"),
    KnownStatus(errSecInvalidAttributeSalt, "errSecInvalidAttributeSalt"),
    KnownStatus(errSecMissingAttributeSalt, "errSecMissingAttributeSalt"),
    KnownStatus(errSecInvalidAttributePadding, "errSecInvalidAttributePadding"),
    KnownStatus(errSecMissingAttributePadding, "errSecMissingAttributePadding"),
    KnownStatus(errSecInvalidAttributeRandom, "errSecInvalidAttributeRandom"),
    KnownStatus(errSecMissingAttributeRandom, "errSecMissingAttributeRandom"),
    KnownStatus(errSecInvalidAttributeSeed, "errSecInvalidAttributeSeed"),
    KnownStatus(errSecMissingAttributeSeed, "errSecMissingAttributeSeed"),
    KnownStatus(errSecInvalidAttributePassphrase, "errSecInvalidAttributePassphrase"),
    KnownStatus(errSecMissingAttributePassphrase, "errSecMissingAttributePassphrase"),
    KnownStatus(errSecInvalidAttributeKeyLength, "errSecInvalidAttributeKeyLength"),
    KnownStatus(errSecMissingAttributeKeyLength, "errSecMissingAttributeKeyLength"),
    KnownStatus(errSecInvalidAttributeBlockSize, "errSecInvalidAttributeBlockSize"),
    KnownStatus(errSecMissingAttributeBlockSize, "errSecMissingAttributeBlockSize"),
    KnownStatus(errSecInvalidAttributeOutputSize, "errSecInvalidAttributeOutputSize"),
    KnownStatus(errSecMissingAttributeOutputSize, "errSecMissingAttributeOutputSize"),
    KnownStatus(errSecInvalidAttributeRounds, "errSecInvalidAttributeRounds"),
    KnownStatus(errSecMissingAttributeRounds, "errSecMissingAttributeRounds"),
    KnownStatus(errSecInvalidAlgorithmParms, "errSecInvalidAlgorithmParms"),
    KnownStatus(errSecMissingAlgorithmParms, "errSecMissingAlgorithmParms"),
    KnownStatus(errSecInvalidAttributeLabel, "errSecInvalidAttributeLabel"),
    KnownStatus(errSecMissingAttributeLabel, "errSecMissingAttributeLabel"),
    KnownStatus(errSecInvalidAttributeKeyType, "errSecInvalidAttributeKeyType"),
    KnownStatus(errSecMissingAttributeKeyType, "errSecMissingAttributeKeyType"),
    KnownStatus(errSecInvalidAttributeMode, "errSecInvalidAttributeMode"),
    KnownStatus(errSecMissingAttributeMode, "errSecMissingAttributeMode"),
    KnownStatus(errSecInvalidAttributeEffectiveBits, "errSecInvalidAttributeEffectiveBits"),
    KnownStatus(errSecMissingAttributeEffectiveBits, "errSecMissingAttributeEffectiveBits"),
    KnownStatus(errSecInvalidAttributeStartDate, "errSecInvalidAttributeStartDate"),
    KnownStatus(errSecMissingAttributeStartDate, "errSecMissingAttributeStartDate"),
    KnownStatus(errSecInvalidAttributeEndDate, "errSecInvalidAttributeEndDate"),
    KnownStatus(errSecMissingAttributeEndDate, "errSecMissingAttributeEndDate"),
    KnownStatus(errSecInvalidAttributeVersion, "errSecInvalidAttributeVersion"),
    KnownStatus(errSecMissingAttributeVersion, "errSecMissingAttributeVersion"),
    KnownStatus(errSecInvalidAttributePrime, "errSecInvalidAttributePrime"),
    KnownStatus(errSecMissingAttributePrime, "errSecMissingAttributePrime"),
    KnownStatus(errSecInvalidAttributeBase, "errSecInvalidAttributeBase"),
    KnownStatus(errSecMissingAttributeBase, "errSecMissingAttributeBase"),
    KnownStatus(errSecInvalidAttributeSubprime, "errSecInvalidAttributeSubprime"),
    KnownStatus(errSecMissingAttributeSubprime, "errSecMissingAttributeSubprime"),
    KnownStatus(errSecInvalidAttributeIterationCount, "errSecInvalidAttributeIterationCount"),
    KnownStatus(errSecMissingAttributeIterationCount, "errSecMissingAttributeIterationCount"),
    KnownStatus(errSecInvalidAttributeDLDBHandle, "errSecInvalidAttributeDLDBHandle"),
    KnownStatus(errSecMissingAttributeDLDBHandle, "errSecMissingAttributeDLDBHandle"),
    KnownStatus(errSecInvalidAttributeAccessCredentials, "errSecInvalidAttributeAccessCredentials"),
    KnownStatus(errSecMissingAttributeAccessCredentials, "errSecMissingAttributeAccessCredentials"),
    KnownStatus(errSecInvalidAttributePublicKeyFormat, "errSecInvalidAttributePublicKeyFormat"),
    KnownStatus(errSecMissingAttributePublicKeyFormat, "errSecMissingAttributePublicKeyFormat"),
    KnownStatus(errSecInvalidAttributePrivateKeyFormat, "errSecInvalidAttributePrivateKeyFormat"),
    KnownStatus(errSecMissingAttributePrivateKeyFormat, "errSecMissingAttributePrivateKeyFormat"),
    KnownStatus(errSecInvalidAttributeSymmetricKeyFormat, "errSecInvalidAttributeSymmetricKeyFormat"),
    KnownStatus(errSecMissingAttributeSymmetricKeyFormat, "errSecMissingAttributeSymmetricKeyFormat"),
    KnownStatus(errSecInvalidAttributeWrappedKeyFormat, "errSecInvalidAttributeWrappedKeyFormat"),
    KnownStatus(errSecMissingAttributeWrappedKeyFormat, "errSecMissingAttributeWrappedKeyFormat"),
    KnownStatus(errSecStagedOperationInProgress, "errSecStagedOperationInProgress"),
    KnownStatus(errSecStagedOperationNotStarted, "errSecStagedOperationNotStarted"),
    KnownStatus(errSecVerifyFailed, "errSecVerifyFailed", "The signature does not match the data and the key."),
    KnownStatus(errSecQuerySizeUnknown, "errSecQuerySizeUnknown"),
    KnownStatus(errSecBlockSizeMismatch, "errSecBlockSizeMismatch", "The block size does not fit the algorithm."),
    KnownStatus(errSecPublicKeyInconsistent, "errSecPublicKeyInconsistent", "The parts of the public key do not fit together."),
]
