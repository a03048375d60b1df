// Converts between values and sd-bus messages, one value at a time.

import Glibc
internal import CVaubanBus
internal import VaubanLinuxHost
internal import VaubanSecretBytes

struct BusReader {
    private let message: OpaquePointer
    private var count = 0
    private var bytes = 0
    private var hasFile = false
    private let secretText: Int?
    private let bytesMax: Int

    /// Returns all arguments of a message. `secretText` is the index of an argument that is a secret string.
    static func arguments(of message: OpaquePointer, secretText: Int? = nil) throws(SystemError) -> [BusValue] {
        try counted(message, secretText: secretText, bytesMax: .max).values
    }

    /// Returns all arguments of a message and the approximate memory that they take, in bytes. Throws `EMSGSIZE` before allocating more
    /// than `bytesMax`.
    static func counted(
        _ message: OpaquePointer, secretText: Int?, bytesMax: Int
    ) throws(SystemError) -> (values: [BusValue], bytes: Int) {
        var reader = BusReader(message: message, secretText: secretText, bytesMax: bytesMax)
        let values = try reader.values()
        return (values, reader.bytes)
    }

    private init(message: OpaquePointer, secretText: Int?, bytesMax: Int) {
        self.message = message
        self.secretText = secretText
        self.bytesMax = bytesMax
    }

    /// Returns the values up to the end of the message or container.
    private mutating func values() throws(SystemError) -> [BusValue] {
        var values: [BusValue] = []
        while let value = try next() { values.append(value) }
        return values
    }

    private mutating func next() throws(SystemError) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try check(sd_bus_message_peek_type(message, &type, &contents)) > 0 else { return nil }
        count += 1
        guard count <= SecretServiceLimits.valuesMax else { throw SystemError("read a message of too many values", code: EMSGSIZE) }
        try take(SecretServiceLimits.valueBytes)
        let inner = contents.map { String(cString: $0) } ?? ""
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "b"): return .boolean(try basic(type, Int32(0)) != 0)
        case UInt8(ascii: "y"): return .byte(try basic(type, UInt8(0)))
        case UInt8(ascii: "i"): return .signed32(try basic(type, Int32(0)))
        case UInt8(ascii: "u"): return .unsigned32(try basic(type, UInt32(0)))
        case UInt8(ascii: "x"): return .signed64(try basic(type, Int64(0)))
        case UInt8(ascii: "t"): return .unsigned64(try basic(type, UInt64(0)))
        // No container precedes a secret argument, so the count of values is its index.
        case UInt8(ascii: "s") where count - 1 == secretText: return .secretText(try secretString(type))
        case UInt8(ascii: "s"): return .string(try text(type))
        case UInt8(ascii: "o"): return .path(try text(type))
        case UInt8(ascii: "a") where inner == "y": return .bytes(try byteArray())
        case UInt8(ascii: "a"): return .array(inner, try contained(type, contents))
        case UInt8(ascii: "e"):
            let parts = try contained(type, contents)
            return parts.count == 2 ? .entry(parts[0], parts[1]) : .other
        case UInt8(ascii: "r"): return .structure(try contained(type, contents))
        case UInt8(ascii: "v"): return .variant(try contained(type, contents).first ?? .other)
        // No method here takes more than one file.
        case UInt8(ascii: "h") where !hasFile:
            hasFile = true
            return .file(try file(type))
        default:
            try check(sd_bus_message_skip(message, nil))
            return .other
        }
    }

    private mutating func contained(_ type: CChar, _ contents: UnsafePointer<CChar>?) throws(SystemError) -> [BusValue] {
        try check(sd_bus_message_enter_container(message, type, contents))
        let values = try values()
        try check(sd_bus_message_exit_container(message))
        return values
    }

    private mutating func take(_ count: Int) throws(SystemError) {
        bytes += count
        guard bytes <= bytesMax else { throw SystemError("read a message of too many bytes", code: EMSGSIZE) }
    }

    private func basic<Value>(_ type: CChar, _ zero: Value) throws(SystemError) -> Value {
        var value = zero
        try check(withUnsafeMutableBytes(of: &value) { sd_bus_message_read_basic(message, type, $0.baseAddress) })
        return value
    }

    private mutating func text(_ type: CChar) throws(SystemError) -> String {
        var text: UnsafePointer<CChar>?
        try check(sd_bus_message_read_basic(message, type, &text))
        guard let start = text else { return "" }
        try take(strlen(start))
        return String(cString: start)
    }

    private mutating func secretString(_ type: CChar) throws(SystemError) -> SharedSecret {
        var text: UnsafePointer<CChar>?
        try check(sd_bus_message_read_basic(message, type, &text))
        let count = text.map { strlen($0) } ?? 0
        try take(count)
        return Self.taken(UnsafeRawBufferPointer(start: text, count: count))
    }

    /// Copies bytes out of a received message and overwrites them there. Each part of a message is read only once.
    private static func taken(_ bytes: UnsafeRawBufferPointer) -> SharedSecret {
        let secret = SharedSecret(SecretBytes(copying: bytes))
        if let start = bytes.baseAddress, !bytes.isEmpty { explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count) }
        return secret
    }

    /// Duplicates the descriptor, since the message closes its own.
    private func file(_ type: CChar) throws(SystemError) -> Descriptor {
        Descriptor(try SystemError.check(fcntl(try basic(type, Int32(-1)), F_DUPFD_CLOEXEC, 3), "take a file of a message"))
    }

    private mutating func byteArray() throws(SystemError) -> SharedSecret {
        var start: UnsafeRawPointer?
        var count = 0
        try check(sd_bus_message_read_array(message, CChar(UInt8(ascii: "y")), &start, &count))
        try take(count)
        return Self.taken(UnsafeRawBufferPointer(start: start, count: count))
    }

    @discardableResult
    private func check(_ result: Int32) throws(SystemError) -> Int32 { try SystemError.checkNegated(result, "read a message") }
}

struct BusWriter {
    let message: OpaquePointer

    func append(_ values: [BusValue]) throws(SystemError) {
        for value in values { try append(value) }
    }

    private func append(_ value: BusValue) throws(SystemError) {
        switch value {
        case .boolean(let flag): try basic("b", Int32(flag ? 1 : 0))
        case .byte(let number): try basic("y", number)
        case .signed32(let number): try basic("i", number)
        case .unsigned32(let number): try basic("u", number)
        case .signed64(let number): try basic("x", number)
        case .unsigned64(let number): try basic("t", number)
        // D-Bus strings cannot contain NUL characters.
        case .string(let text):
            let plain = text.utf8.contains(0) ? text.filter { $0 != "\0" } : text
            try check(sd_bus_message_append_basic(message, code("s"), plain))
        case .secretText(let secret): try append(secretText: secret)
        case .path(let path): try check(sd_bus_message_append_basic(message, code("o"), path))
        case .bytes(let secret):
            try check(secret.bytes.withUnsafeBytes { sd_bus_message_append_array(message, code("y"), $0.baseAddress, $0.count) })
        case .array(let element, let values): try container("a", contents: element, values: values)
        case .entry(let key, let value): try container("e", contents: key.signature + value.signature, values: [key, value])
        case .structure(let parts): try container("r", contents: parts.map(\.signature).joined(), values: parts)
        case .variant(let inner): try container("v", contents: inner.signature, values: [inner])
        case .file, .other: throw SystemError("write a message", code: EINVAL)
        }
    }

    private func append(secretText secret: SharedSecret) throws(SystemError) {
        var space: UnsafeMutablePointer<CChar>?
        try check(sd_bus_message_append_string_space(message, secret.bytes.count, &space))
        guard let space else { throw SystemError("write a message", code: ENOMEM) }
        secret.bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: space, count: $0.count).copyMemory(from: $0) }
    }

    private func container(_ type: Unicode.Scalar, contents: String, values: [BusValue]) throws(SystemError) {
        try check(sd_bus_message_open_container(message, code(type), contents))
        try append(values)
        try check(sd_bus_message_close_container(message))
    }

    private func basic<Value>(_ type: Unicode.Scalar, _ value: Value) throws(SystemError) {
        try check(withUnsafeBytes(of: value) { sd_bus_message_append_basic(message, code(type), $0.baseAddress) })
    }

    private func code(_ type: Unicode.Scalar) -> CChar { CChar(UInt8(ascii: type)) }

    private func check(_ result: Int32) throws(SystemError) { try SystemError.checkNegated(result, "write a message") }
}
