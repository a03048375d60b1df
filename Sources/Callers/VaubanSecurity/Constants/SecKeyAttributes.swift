// The attributes of keys and certificates.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Certificates.

/// The distinguished name of the subject.
nonisolated(unsafe) public let kSecAttrSubject: CFString = "subj"

/// The distinguished name of the issuer.
nonisolated(unsafe) public let kSecAttrIssuer: CFString = "issr"

/// The serial number.
nonisolated(unsafe) public let kSecAttrSerialNumber: CFString = "slnr"

/// The identifier of the subject's key.
nonisolated(unsafe) public let kSecAttrSubjectKeyID: CFString = "skid"

/// The SHA-1 hash of the public key. It joins a certificate to its key.
nonisolated(unsafe) public let kSecAttrPublicKeyHash: CFString = "pkhh"

/// The version of the certificate's format.
nonisolated(unsafe) public let kSecAttrCertificateType: CFString = "ctyp"

/// The encoding of the certificate.
nonisolated(unsafe) public let kSecAttrCertificateEncoding: CFString = "cenc"

// MARK: Keys.

/// Whether the key is public, private or symmetric.
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"

/// The label by which programs find the key. For asymmetric keys it is the SHA-1 hash of the public key.
nonisolated(unsafe) public let kSecAttrApplicationLabel: CFString = "klbl"

/// A tag of the application's choice.
nonisolated(unsafe) public let kSecAttrApplicationTag: CFString = "atag"

/// The algorithm of the key.
nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"

/// The size of the key in bits.
nonisolated(unsafe) public let kSecAttrKeySizeInBits: CFString = "bsiz"

/// The number of effective bits.
nonisolated(unsafe) public let kSecAttrEffectiveKeySize: CFString = "esiz"

/// Whether to store a new key in the keychain.
nonisolated(unsafe) public let kSecAttrIsPermanent: CFString = "perm"

/// Whether the key may leave the keychain only wrapped.
nonisolated(unsafe) public let kSecAttrIsSensitive: CFString = "sens"

/// Whether the key may leave the keychain at all.
nonisolated(unsafe) public let kSecAttrIsExtractable: CFString = "extr"

/// Whether the key may encrypt.
nonisolated(unsafe) public let kSecAttrCanEncrypt: CFString = "encr"

/// Whether the key may decrypt.
nonisolated(unsafe) public let kSecAttrCanDecrypt: CFString = "decr"

/// Whether other keys may be derived from the key.
nonisolated(unsafe) public let kSecAttrCanDerive: CFString = "drve"

/// Whether the key may sign.
nonisolated(unsafe) public let kSecAttrCanSign: CFString = "sign"

/// Whether the key may verify signatures.
nonisolated(unsafe) public let kSecAttrCanVerify: CFString = "vrfy"

/// Whether the key may wrap other keys.
nonisolated(unsafe) public let kSecAttrCanWrap: CFString = "wrap"

/// Whether the key may unwrap other keys.
nonisolated(unsafe) public let kSecAttrCanUnwrap: CFString = "unwp"

// MARK: Parts of a key pair.

/// The attributes of the private key alone, when a key pair is created.
nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"

/// The attributes of the public key alone, when a key pair is created.
nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"

// MARK: Key derivation in the older macOS keychain.

/// The pseudo-random function. The values are the `kSecAttrPRFHmacAlg…` constants.
nonisolated(unsafe) public let kSecAttrPRF: CFString = "prf"

/// The salt.
nonisolated(unsafe) public let kSecAttrSalt: CFString = "salt"

/// The number of rounds.
nonisolated(unsafe) public let kSecAttrRounds: CFString = "rounds"
