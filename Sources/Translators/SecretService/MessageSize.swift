internal import VaubanSecretBytes

/// The size of values in a D-Bus message. A bus disconnects a sender whose message is too large, so the size must be known before sending.
package struct MessageSize {
    /// The limits for one array and for all values, in bytes. The rest of the largest message, 128 MiB, is for its header.
    package static let arrayBytesMax = 64 << 20
    package static let bytesMax = (128 << 20) - (64 << 10)

    /// The bytes of the values so far.
    package private(set) var bytes = 0
    private var hasLongArray = false

    package init() {}

    /// Whether a message can contain these values.
    package var fits: Bool { !hasLongArray && bytes <= Self.bytesMax }

    /// Adds a number of 1, 4 or 8 bytes.
    package mutating func addNumber(bytes count: Int) {
        align(to: count)
        bytes += count
    }

    /// Adds a string or a path of `count` bytes of UTF-8.
    package mutating func addText(bytes count: Int) {
        addNumber(bytes: 4)
        bytes += count + 1
    }

    /// Adds an array, and the elements that `elements` adds.
    package mutating func addArray(alignment: Int, _ elements: (inout MessageSize) -> Void) {
        addNumber(bytes: 4)
        align(to: alignment)
        let start = bytes
        elements(&self)
        if bytes - start > Self.arrayBytesMax { hasLongArray = true }
    }

    private mutating func align(to count: Int) { bytes = (bytes + count - 1) / count * count }
}

extension MessageSize {
    init(of values: [BusValue]) {
        self.init()
        for value in values { add(value) }
    }

    private mutating func add(_ value: BusValue) {
        switch value {
        case .byte: addNumber(bytes: 1)
        case .boolean, .signed32, .unsigned32: addNumber(bytes: 4)
        case .signed64, .unsigned64: addNumber(bytes: 8)
        case .string(let text), .path(let text): addText(bytes: text.utf8.count)
        case .secretText(let secret): addText(bytes: secret.bytes.count)
        case .bytes(let secret): addArray(alignment: 1) { $0.bytes += secret.bytes.count }
        case .array(let element, let values):
            addArray(alignment: Self.alignment(of: element)) { size in
                for value in values { size.add(value) }
            }
        case .entry(let key, let value): addStructure([key, value])
        case .structure(let parts): addStructure(parts)
        case .variant(let inner):
            // The signature, with its length and its terminating zero.
            bytes += inner.signature.utf8.count + 2
            add(inner)
        case .file, .other: break
        }
    }

    private mutating func addStructure(_ parts: [BusValue]) {
        align(to: 8)
        for part in parts { add(part) }
    }

    /// Returns the alignment of the first type in a signature.
    private static func alignment(of signature: String) -> Int {
        switch signature.first {
        case "{", "(", "x", "t", "d": 8
        case "y", "v", "g": 1
        case "n", "q": 2
        default: 4
        }
    }
}
