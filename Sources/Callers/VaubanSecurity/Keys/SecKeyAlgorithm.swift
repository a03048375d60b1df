/// An algorithm of a key operation: Apple's `SecKeyAlgorithm`. Names and raw values are Apple's (Specs/secitem.md, 12.2).
/// `SecKeyIsAlgorithmSupported` returns whether one is supported; Specs/key-algorithms.md lists them.
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    let name: String
    /// The name, parsed once; nil for an unsupported algorithm.
    let method: KeyMethod?

    /// Creates an algorithm from its name.
    public init(rawValue: CFString) {
        name = rawValue as String
        method = KeyMethod(name)
    }

    /// Apple's name of the algorithm.
    public var rawValue: CFString { NSString(string: name) }

    // MARK: RSA signatures

    /// Raw RSA signature.
    public static let rsaSignatureRaw = SecKeyAlgorithm(rawValue: "algid:sign:RSA:raw")
    /// RSA PKCS #1 v1.5 signature of a digest without an algorithm identifier.
    public static let rsaSignatureDigestPKCS1v15Raw = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PKCS1v15")
    /// RSA PKCS #1 v1.5 signature of a SHA-1 digest.
    public static let rsaSignatureDigestPKCS1v15SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA1")
    /// RSA PKCS #1 v1.5 signature of a SHA-224 digest.
    public static let rsaSignatureDigestPKCS1v15SHA224 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA224")
    /// RSA PKCS #1 v1.5 signature of a SHA-256 digest.
    public static let rsaSignatureDigestPKCS1v15SHA256 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA256")
    /// RSA PKCS #1 v1.5 signature of a SHA-384 digest.
    public static let rsaSignatureDigestPKCS1v15SHA384 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA384")
    /// RSA PKCS #1 v1.5 signature of a SHA-512 digest.
    public static let rsaSignatureDigestPKCS1v15SHA512 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PKCS1v15:SHA512")
    /// RSA PKCS #1 v1.5 signature of a message, hashed with SHA-1.
    public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PKCS1v15:SHA1")
    /// RSA PKCS #1 v1.5 signature of a message, hashed with SHA-224.
    public static let rsaSignatureMessagePKCS1v15SHA224 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PKCS1v15:SHA224")
    /// RSA PKCS #1 v1.5 signature of a message, hashed with SHA-256.
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PKCS1v15:SHA256")
    /// RSA PKCS #1 v1.5 signature of a message, hashed with SHA-384.
    public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PKCS1v15:SHA384")
    /// RSA PKCS #1 v1.5 signature of a message, hashed with SHA-512.
    public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PKCS1v15:SHA512")
    /// RSA-PSS signature of a SHA-1 digest.
    public static let rsaSignatureDigestPSSSHA1 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PSS:SHA1:SHA1:20")
    /// RSA-PSS signature of a SHA-224 digest.
    public static let rsaSignatureDigestPSSSHA224 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PSS:SHA224:SHA224:28")
    /// RSA-PSS signature of a SHA-256 digest.
    public static let rsaSignatureDigestPSSSHA256 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
    /// RSA-PSS signature of a SHA-384 digest.
    public static let rsaSignatureDigestPSSSHA384 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PSS:SHA384:SHA384:48")
    /// RSA-PSS signature of a SHA-512 digest.
    public static let rsaSignatureDigestPSSSHA512 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:digest-PSS:SHA512:SHA512:64")
    /// RSA-PSS signature of a message, hashed with SHA-1.
    public static let rsaSignatureMessagePSSSHA1 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PSS:SHA1:SHA1:20")
    /// RSA-PSS signature of a message, hashed with SHA-224.
    public static let rsaSignatureMessagePSSSHA224 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PSS:SHA224:SHA224:28")
    /// RSA-PSS signature of a message, hashed with SHA-256.
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PSS:SHA256:SHA256:32")
    /// RSA-PSS signature of a message, hashed with SHA-384.
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PSS:SHA384:SHA384:48")
    /// RSA-PSS signature of a message, hashed with SHA-512.
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(rawValue: "algid:sign:RSA:message-PSS:SHA512:SHA512:64")

    // MARK: Signatures over elliptic curves

    /// ECDSA signature of a digest of any length, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureRFC4754 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:RFC4754")
    /// ECDSA signature of a digest of any length, as DER (X9.62).
    public static let ecdsaSignatureDigestX962 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962")
    /// ECDSA signature of a SHA-1 digest, as DER (X9.62).
    public static let ecdsaSignatureDigestX962SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA1")
    /// ECDSA signature of a SHA-224 digest, as DER (X9.62).
    public static let ecdsaSignatureDigestX962SHA224 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA224")
    /// ECDSA signature of a SHA-256 digest, as DER (X9.62).
    public static let ecdsaSignatureDigestX962SHA256 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA256")
    /// ECDSA signature of a SHA-384 digest, as DER (X9.62).
    public static let ecdsaSignatureDigestX962SHA384 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA384")
    /// ECDSA signature of a SHA-512 digest, as DER (X9.62).
    public static let ecdsaSignatureDigestX962SHA512 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-X962:SHA512")
    /// ECDSA signature of a message, hashed with SHA-1, as DER (X9.62).
    public static let ecdsaSignatureMessageX962SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA1")
    /// ECDSA signature of a message, hashed with SHA-224, as DER (X9.62).
    public static let ecdsaSignatureMessageX962SHA224 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA224")
    /// ECDSA signature of a message, hashed with SHA-256, as DER (X9.62).
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA256")
    /// ECDSA signature of a message, hashed with SHA-384, as DER (X9.62).
    public static let ecdsaSignatureMessageX962SHA384 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA384")
    /// ECDSA signature of a message, hashed with SHA-512, as DER (X9.62).
    public static let ecdsaSignatureMessageX962SHA512 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA512")
    /// ECDSA signature of a digest of any length, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureDigestRFC4754 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-RFC4754")
    /// ECDSA signature of a SHA-1 digest, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureDigestRFC4754SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-RFC4754:SHA1")
    /// ECDSA signature of a SHA-224 digest, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureDigestRFC4754SHA224 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-RFC4754:SHA224")
    /// ECDSA signature of a SHA-256 digest, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureDigestRFC4754SHA256 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-RFC4754:SHA256")
    /// ECDSA signature of a SHA-384 digest, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureDigestRFC4754SHA384 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-RFC4754:SHA384")
    /// ECDSA signature of a SHA-512 digest, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureDigestRFC4754SHA512 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:digest-RFC4754:SHA512")
    /// ECDSA signature of a message, hashed with SHA-1, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureMessageRFC4754SHA1 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-RFC4754:SHA1")
    /// ECDSA signature of a message, hashed with SHA-224, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureMessageRFC4754SHA224 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-RFC4754:SHA224")
    /// ECDSA signature of a message, hashed with SHA-256, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureMessageRFC4754SHA256 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-RFC4754:SHA256")
    /// ECDSA signature of a message, hashed with SHA-384, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureMessageRFC4754SHA384 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-RFC4754:SHA384")
    /// ECDSA signature of a message, hashed with SHA-512, as r ‖ s (RFC 4754).
    public static let ecdsaSignatureMessageRFC4754SHA512 = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-RFC4754:SHA512")

    // MARK: RSA encryption

    /// Raw RSA encryption.
    public static let rsaEncryptionRaw = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:raw")
    /// RSA PKCS #1 v1.5 encryption.
    public static let rsaEncryptionPKCS1 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:PKCS1")
    /// RSA-OAEP encryption with SHA-1.
    public static let rsaEncryptionOAEPSHA1 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA1")
    /// RSA-OAEP encryption with SHA-224.
    public static let rsaEncryptionOAEPSHA224 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA224")
    /// RSA-OAEP encryption with SHA-256.
    public static let rsaEncryptionOAEPSHA256 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA256")
    /// RSA-OAEP encryption with SHA-384.
    public static let rsaEncryptionOAEPSHA384 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA384")
    /// RSA-OAEP encryption with SHA-512.
    public static let rsaEncryptionOAEPSHA512 = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA512")
    /// RSA-OAEP encryption with SHA-1 of an AES key, with which AES-GCM encrypts the data.
    public static let rsaEncryptionOAEPSHA1AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA1:AESGCM")
    /// RSA-OAEP encryption with SHA-224 of an AES key, with which AES-GCM encrypts the data.
    public static let rsaEncryptionOAEPSHA224AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA224:AESGCM")
    /// RSA-OAEP encryption with SHA-256 of an AES key, with which AES-GCM encrypts the data.
    public static let rsaEncryptionOAEPSHA256AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA256:AESGCM")
    /// RSA-OAEP encryption with SHA-384 of an AES key, with which AES-GCM encrypts the data.
    public static let rsaEncryptionOAEPSHA384AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA384:AESGCM")
    /// RSA-OAEP encryption with SHA-512 of an AES key, with which AES-GCM encrypts the data.
    public static let rsaEncryptionOAEPSHA512AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:RSA:OAEP:SHA512:AESGCM")

    // MARK: Encryption over elliptic curves

    /// ECIES with ECDH, X9.63 key derivation with SHA-1, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionStandardX963SHA1AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA1:AESGCM")
    /// ECIES with ECDH, X9.63 key derivation with SHA-224, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionStandardX963SHA224AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM")
    /// ECIES with ECDH, X9.63 key derivation with SHA-256, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionStandardX963SHA256AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM")
    /// ECIES with ECDH, X9.63 key derivation with SHA-384, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionStandardX963SHA384AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM")
    /// ECIES with ECDH, X9.63 key derivation with SHA-512, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionStandardX963SHA512AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-1, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionCofactorX963SHA1AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA1:AESGCM")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-224, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionCofactorX963SHA224AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-256, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionCofactorX963SHA256AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-384, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionCofactorX963SHA384AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-512, and AES-GCM with an IV of zeros.
    public static let eciesEncryptionCofactorX963SHA512AESGCM = SecKeyAlgorithm(rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM")
    /// ECIES with ECDH, X9.63 key derivation with SHA-224, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA224:AESGCM-KDFIV")
    /// ECIES with ECDH, X9.63 key derivation with SHA-256, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM-KDFIV")
    /// ECIES with ECDH, X9.63 key derivation with SHA-384, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA384:AESGCM-KDFIV")
    /// ECIES with ECDH, X9.63 key derivation with SHA-512, and AES-GCM with a derived IV.
    public static let eciesEncryptionStandardVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        rawValue: "algid:encrypt:ECIES:ECDH:KDFX963:SHA512:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-224, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA224AESGCM = SecKeyAlgorithm(
        rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA224:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-256, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA256AESGCM = SecKeyAlgorithm(
        rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA256:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-384, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA384AESGCM = SecKeyAlgorithm(
        rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA384:AESGCM-KDFIV")
    /// ECIES with cofactor ECDH, X9.63 key derivation with SHA-512, and AES-GCM with a derived IV.
    public static let eciesEncryptionCofactorVariableIVX963SHA512AESGCM = SecKeyAlgorithm(
        rawValue: "algid:encrypt:ECIES:ECDHC:KDFX963:SHA512:AESGCM-KDFIV")

    // MARK: Key exchange

    /// ECDH: the x coordinate of the shared point.
    public static let ecdhKeyExchangeStandard = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDH")
    /// ECDH with X9.63 key derivation with SHA-1.
    public static let ecdhKeyExchangeStandardX963SHA1 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDH:KDFX963:SHA1")
    /// ECDH with X9.63 key derivation with SHA-224.
    public static let ecdhKeyExchangeStandardX963SHA224 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDH:KDFX963:SHA224")
    /// ECDH with X9.63 key derivation with SHA-256.
    public static let ecdhKeyExchangeStandardX963SHA256 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDH:KDFX963:SHA256")
    /// ECDH with X9.63 key derivation with SHA-384.
    public static let ecdhKeyExchangeStandardX963SHA384 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDH:KDFX963:SHA384")
    /// ECDH with X9.63 key derivation with SHA-512.
    public static let ecdhKeyExchangeStandardX963SHA512 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDH:KDFX963:SHA512")
    /// Cofactor ECDH: the x coordinate of the shared point.
    public static let ecdhKeyExchangeCofactor = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDHC")
    /// Cofactor ECDH with X9.63 key derivation with SHA-1.
    public static let ecdhKeyExchangeCofactorX963SHA1 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA1")
    /// Cofactor ECDH with X9.63 key derivation with SHA-224.
    public static let ecdhKeyExchangeCofactorX963SHA224 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA224")
    /// Cofactor ECDH with X9.63 key derivation with SHA-256.
    public static let ecdhKeyExchangeCofactorX963SHA256 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA256")
    /// Cofactor ECDH with X9.63 key derivation with SHA-384.
    public static let ecdhKeyExchangeCofactorX963SHA384 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA384")
    /// Cofactor ECDH with X9.63 key derivation with SHA-512.
    public static let ecdhKeyExchangeCofactorX963SHA512 = SecKeyAlgorithm(rawValue: "algid:keyexchange:ECDHC:KDFX963:SHA512")
}

/// A parameter of a key exchange: Apple's `SecKeyKeyExchangeParameter`.
public struct SecKeyKeyExchangeParameter: RawRepresentable, Hashable, Sendable {
    let name: String
    /// The name, parsed once; nil for an unsupported parameter.
    let method: KeyMethod?

    /// Creates a parameter from its name.
    public init(rawValue: CFString) {
        name = rawValue as String
        method = KeyMethod(name)
    }

    /// Apple's name of the parameter.
    public var rawValue: CFString { NSString(string: name) }

    /// The size of the derived key in bytes, as a number.
    public static let requestedSize = SecKeyKeyExchangeParameter(rawValue: "requestedSize")
    /// Data that both sides have, bound into the derived key.
    public static let sharedInfo = SecKeyKeyExchangeParameter(rawValue: "sharedInfo")
}

/// An operation of a key: Apple's `SecKeyOperationType`.
public enum SecKeyOperationType: Int, Sendable {
    /// Creating a signature.
    case sign = 0
    /// Verifying a signature.
    case verify = 1
    /// Encrypting.
    case encrypt = 2
    /// Decrypting.
    case decrypt = 3
    /// Exchanging keys.
    case keyExchange = 4
}

/// The padding of the older functions: Apple's `SecPadding`.
public struct SecPadding: OptionSet, Hashable, Sendable {
    /// The padding as a number.
    public let rawValue: UInt32
    /// Creates a padding from its number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// PKCS #1 v1.5 padding.
    public static let PKCS1 = SecPadding(rawValue: 1)
    /// OAEP padding with SHA-1.
    public static let OAEP = SecPadding(rawValue: 2)
    /// A raw ECDSA signature, in Apple's headers.
    public static let sigRaw = SecPadding(rawValue: 0x4000)
    /// PKCS #1 v1.5 signature of an MD2 digest; unsupported.
    public static let PKCS1MD2 = SecPadding(rawValue: 0x8000)
    /// PKCS #1 v1.5 signature of an MD5 digest; unsupported.
    public static let PKCS1MD5 = SecPadding(rawValue: 0x8001)
    /// PKCS #1 v1.5 signature of a SHA-1 digest.
    public static let PKCS1SHA1 = SecPadding(rawValue: 0x8002)
    /// PKCS #1 v1.5 signature of a SHA-224 digest; unsupported.
    public static let PKCS1SHA224 = SecPadding(rawValue: 0x8003)
    /// PKCS #1 v1.5 signature of a SHA-256 digest.
    public static let PKCS1SHA256 = SecPadding(rawValue: 0x8004)
    /// PKCS #1 v1.5 signature of a SHA-384 digest.
    public static let PKCS1SHA384 = SecPadding(rawValue: 0x8005)
    /// PKCS #1 v1.5 signature of a SHA-512 digest.
    public static let PKCS1SHA512 = SecPadding(rawValue: 0x8006)
}

/// The C name of `SecKeyKeyExchangeParameter.requestedSize`.
nonisolated(unsafe) public let kSecKeyKeyExchangeParameterRequestedSize: CFString = "requestedSize"
/// The C name of `SecKeyKeyExchangeParameter.sharedInfo`.
nonisolated(unsafe) public let kSecKeyKeyExchangeParameterSharedInfo: CFString = "sharedInfo"
