// Statuses of algorithm attributes, from -67748 to -67811.
// Names and numbers are those of Apple's `SecBase.h`; the table below gives each number its name
// and, where a user may read it, a sentence.

// MARK: Attributes of a cryptographic context, each as an invalid and a missing one.

public let errSecInvalidAttributeKey: OSStatus = -67748
public let errSecMissingAttributeKey: OSStatus = -67749
public let errSecInvalidAttributeInitVector: OSStatus = -67750
public let errSecMissingAttributeInitVector: OSStatus = -67751
public let errSecInvalidAttributeSalt: OSStatus = -67752
public let errSecMissingAttributeSalt: OSStatus = -67753
public let errSecInvalidAttributePadding: OSStatus = -67754
public let errSecMissingAttributePadding: OSStatus = -67755
public let errSecInvalidAttributeRandom: OSStatus = -67756
public let errSecMissingAttributeRandom: OSStatus = -67757
public let errSecInvalidAttributeSeed: OSStatus = -67758
public let errSecMissingAttributeSeed: OSStatus = -67759
public let errSecInvalidAttributePassphrase: OSStatus = -67760
public let errSecMissingAttributePassphrase: OSStatus = -67761
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
public let errSecMissingAttributeKeyLength: OSStatus = -67763
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
public let errSecMissingAttributeBlockSize: OSStatus = -67765
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
public let errSecMissingAttributeOutputSize: OSStatus = -67767
public let errSecInvalidAttributeRounds: OSStatus = -67768
public let errSecMissingAttributeRounds: OSStatus = -67769
public let errSecInvalidAlgorithmParms: OSStatus = -67770
public let errSecMissingAlgorithmParms: OSStatus = -67771
public let errSecInvalidAttributeLabel: OSStatus = -67772
public let errSecMissingAttributeLabel: OSStatus = -67773
public let errSecInvalidAttributeKeyType: OSStatus = -67774
public let errSecMissingAttributeKeyType: OSStatus = -67775
public let errSecInvalidAttributeMode: OSStatus = -67776
public let errSecMissingAttributeMode: OSStatus = -67777
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
public let errSecInvalidAttributeStartDate: OSStatus = -67780
public let errSecMissingAttributeStartDate: OSStatus = -67781
public let errSecInvalidAttributeEndDate: OSStatus = -67782
public let errSecMissingAttributeEndDate: OSStatus = -67783
public let errSecInvalidAttributeVersion: OSStatus = -67784
public let errSecMissingAttributeVersion: OSStatus = -67785
public let errSecInvalidAttributePrime: OSStatus = -67786
public let errSecMissingAttributePrime: OSStatus = -67787
public let errSecInvalidAttributeBase: OSStatus = -67788
public let errSecMissingAttributeBase: OSStatus = -67789
public let errSecInvalidAttributeSubprime: OSStatus = -67790
public let errSecMissingAttributeSubprime: OSStatus = -67791
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
public let errSecMissingAttributeIterationCount: OSStatus = -67793
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805

// MARK: Staged operations and their outcome.

public let errSecStagedOperationInProgress: OSStatus = -67806
public let errSecStagedOperationNotStarted: OSStatus = -67807
public let errSecVerifyFailed: OSStatus = -67808
public let errSecQuerySizeUnknown: OSStatus = -67809
public let errSecBlockSizeMismatch: OSStatus = -67810
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
    KnownStatus(errSecVerifyFailed, "errSecVerifyFailed", "The signature does not belong to this data and key."),
    KnownStatus(errSecQuerySizeUnknown, "errSecQuerySizeUnknown"),
    KnownStatus(errSecBlockSizeMismatch, "errSecBlockSizeMismatch", "The block size does not fit the algorithm."),
    KnownStatus(errSecPublicKeyInconsistent, "errSecPublicKeyInconsistent", "The parts of the public key do not fit together."),
]
