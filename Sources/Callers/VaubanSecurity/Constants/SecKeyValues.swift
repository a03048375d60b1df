// The values of the attributes of keys. They are decimal numbers written as text.
//
// Each constant has the name and the text that Apple's `Security` gives it. Foundation calls NSString
// non-Sendable because of its mutable subclass; these are immutable literals, never replaced, which
// is why `nonisolated(unsafe)` is sound for them.

// MARK: Values of `kSecAttrKeyClass`.

/// A public key.
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"

/// A private key.
nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"

/// A symmetric key.
nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"

// MARK: Values of `kSecAttrKeyType`.

/// RSA.
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"

/// An elliptic curve over a prime field: P-256, P-384 or P-521.
nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"

/// The former name of `kSecAttrKeyTypeECSECPrimeRandom`, with the same value.
nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"

/// The macOS name of `kSecAttrKeyTypeECSECPrimeRandom`, with the same value.
nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"

/// DSA.
nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"

/// AES.
nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"

/// DES.
nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"

/// Triple DES.
nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"

/// RC4.
nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"

/// RC2.
nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"

/// CAST.
nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"

// MARK: Values of `kSecAttrPRF`.

/// HMAC with SHA-1.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"

/// HMAC with SHA-224.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"

/// HMAC with SHA-256.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"

/// HMAC with SHA-384.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"

/// HMAC with SHA-512.
nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"
