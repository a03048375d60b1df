// The three curves of swift-crypto under one protocol.

internal import Crypto
internal import VaubanSecretBytes

/// A curve over a prime field, with its size in bits.
enum CurveName: Int, CaseIterable, Sendable {
    case p256 = 256
    case p384 = 384
    case p521 = 521

    var coordinateBytes: Int { (rawValue + 7) / 8 }
    /// X9.63: 04 ‖ X ‖ Y.
    var publicBytes: Int { 1 + 2 * coordinateBytes }
    /// The same as the public form, followed by the private number.
    var privateBytes: Int { 1 + 3 * coordinateBytes }

    var curve: any Curve.Type {
        switch self {
        case .p256: P256Curve.self
        case .p384: P384Curve.self
        case .p521: P521Curve.self
        }
    }
}

/// A digest of any length; the curve uses its leftmost bits. The enclave has its own: no module below both has cryptography.
struct GivenDigest: Digest {
    static var byteCount: Int { 0 }
    let bytes: [UInt8]

    func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value { try bytes.withUnsafeBytes(body) }
    func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
    var description: String { "digest" }
}

protocol CurveSignature {
    init<Bytes: DataProtocol>(rawRepresentation: Bytes) throws
    init<Bytes: DataProtocol>(derRepresentation: Bytes) throws
    var rawRepresentation: Data { get }
    var derRepresentation: Data { get }
}

protocol CurveSigner {
    associatedtype Signature: CurveSignature
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws
    func sign(_ digest: GivenDigest) throws -> Signature
}

protocol CurveVerifier {
    associatedtype Signature: CurveSignature
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws
    func isValid(_ signature: Signature, for digest: GivenDigest) -> Bool
}

protocol CurveAgreement {
    associatedtype Peer: CurvePeer
    init(compactRepresentable: Bool)
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws
    func agree(with peer: Peer) throws -> SharedSecret
    var peer: Peer { get }
    var x963Representation: Data { get }
}

protocol CurvePeer {
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws
    var x963Representation: Data { get }
}

protocol Curve {
    associatedtype Signer: CurveSigner
    associatedtype Verifier: CurveVerifier where Verifier.Signature == Signer.Signature
    associatedtype Agreement: CurveAgreement
}

enum P256Curve: Curve {
    typealias Signer = P256.Signing.PrivateKey
    typealias Verifier = P256.Signing.PublicKey
    typealias Agreement = P256.KeyAgreement.PrivateKey
}

enum P384Curve: Curve {
    typealias Signer = P384.Signing.PrivateKey
    typealias Verifier = P384.Signing.PublicKey
    typealias Agreement = P384.KeyAgreement.PrivateKey
}

enum P521Curve: Curve {
    typealias Signer = P521.Signing.PrivateKey
    typealias Verifier = P521.Signing.PublicKey
    typealias Agreement = P521.KeyAgreement.PrivateKey
}

extension P256.Signing.ECDSASignature: CurveSignature {}
extension P256.Signing.PrivateKey: CurveSigner {
    func sign(_ digest: GivenDigest) throws -> P256.Signing.ECDSASignature { try signature(for: digest) }
}
extension P256.Signing.PublicKey: CurveVerifier {
    func isValid(_ signature: P256.Signing.ECDSASignature, for digest: GivenDigest) -> Bool { isValidSignature(signature, for: digest) }
}
extension P256.KeyAgreement.PublicKey: CurvePeer {}
extension P256.KeyAgreement.PrivateKey: CurveAgreement {
    func agree(with peer: P256.KeyAgreement.PublicKey) throws -> SharedSecret { try sharedSecretFromKeyAgreement(with: peer) }
    var peer: P256.KeyAgreement.PublicKey { publicKey }
}

extension P384.Signing.ECDSASignature: CurveSignature {}
extension P384.Signing.PrivateKey: CurveSigner {
    func sign(_ digest: GivenDigest) throws -> P384.Signing.ECDSASignature { try signature(for: digest) }
}
extension P384.Signing.PublicKey: CurveVerifier {
    func isValid(_ signature: P384.Signing.ECDSASignature, for digest: GivenDigest) -> Bool { isValidSignature(signature, for: digest) }
}
extension P384.KeyAgreement.PublicKey: CurvePeer {}
extension P384.KeyAgreement.PrivateKey: CurveAgreement {
    func agree(with peer: P384.KeyAgreement.PublicKey) throws -> SharedSecret { try sharedSecretFromKeyAgreement(with: peer) }
    var peer: P384.KeyAgreement.PublicKey { publicKey }
}

extension P521.Signing.ECDSASignature: CurveSignature {}
extension P521.Signing.PrivateKey: CurveSigner {
    func sign(_ digest: GivenDigest) throws -> P521.Signing.ECDSASignature { try signature(for: digest) }
}
extension P521.Signing.PublicKey: CurveVerifier {
    func isValid(_ signature: P521.Signing.ECDSASignature, for digest: GivenDigest) -> Bool { isValidSignature(signature, for: digest) }
}
extension P521.KeyAgreement.PublicKey: CurvePeer {}
extension P521.KeyAgreement.PrivateKey: CurveAgreement {
    func agree(with peer: P521.KeyAgreement.PublicKey) throws -> SharedSecret { try sharedSecretFromKeyAgreement(with: peer) }
    var peer: P521.KeyAgreement.PublicKey { publicKey }
}
