internal import VaubanLinuxHost
internal import VaubanSecretBytes

/// Bytes that may be a secret, shared within this process and zeroed with the last reference.
final class SharedSecret: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    convenience init(copying bytes: [UInt8]) { self.init(SecretBytes(copying: bytes)) }

    var array: [UInt8] { bytes.withUnsafeBytes { [UInt8]($0) } }
}

/// A value of a D-Bus message, of the types that the Secret Service uses.
indirect enum BusValue: Sendable {
    case boolean(Bool)
    case byte(UInt8)
    case signed32(Int32)
    case unsigned32(UInt32)
    case signed64(Int64)
    case unsigned64(UInt64)
    case string(String)
    /// A secret string: UTF-8 without NUL.
    case secretText(SharedSecret)
    case path(String)
    case bytes(SharedSecret)
    /// Elements of one type, with the signature of that type.
    case array(String, [BusValue])
    case entry(BusValue, BusValue)
    case structure([BusValue])
    case variant(BusValue)
    /// An open file that a client sent.
    case file(Descriptor)
    /// A value of an unsupported type.
    case other

    var signature: String {
        switch self {
        case .boolean: "b"
        case .byte: "y"
        case .signed32: "i"
        case .unsigned32: "u"
        case .signed64: "x"
        case .unsigned64: "t"
        case .string, .secretText: "s"
        case .path: "o"
        case .bytes: "ay"
        case .array(let element, _): "a\(element)"
        case .entry(let key, let value): "{\(key.signature)\(value.signature)}"
        case .structure(let parts): "(\(parts.map(\.signature).joined()))"
        case .variant: "v"
        case .file: "h"
        case .other: ""
        }
    }

    static func paths(_ paths: [String]) -> BusValue { .array("o", paths.map(BusValue.path)) }

    static func texts(_ texts: [(name: String, value: String)]) -> BusValue {
        .array("{ss}", texts.map { .entry(.string($0.name), .string($0.value)) })
    }

    static func properties(_ properties: [(name: String, value: BusValue)]) -> BusValue {
        .array("{sv}", properties.map { .entry(.string($0.name), .variant($0.value)) })
    }
}

// MARK: Accessors

extension BusValue {
    var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        default: nil
        }
    }

    var file: Descriptor? { if case .file(let file) = self { file } else { nil } }

    var signed: Int32? { if case .signed32(let number) = self { number } else { nil } }

    var isTrue: Bool { if case .boolean(true) = self { true } else { false } }

    var elements: [BusValue] {
        switch self {
        case .array(_, let elements), .structure(let elements): elements
        default: []
        }
    }

    /// The entries of a dictionary with string keys; variants are unwrapped.
    var entries: [(name: String, value: BusValue)] {
        elements.compactMap { element in
            guard case .entry(let key, let value) = element, let name = key.text else { return nil }
            if case .variant(let inner) = value { return (name, inner) }
            return (name, value)
        }
    }

    var texts: [String] { elements.compactMap(\.text) }

    var secret: SharedSecret? {
        switch self {
        case .bytes(let bytes), .secretText(let bytes): bytes
        default: nil
        }
    }

    var unwrapped: BusValue { if case .variant(let inner) = self { inner } else { self } }
}
