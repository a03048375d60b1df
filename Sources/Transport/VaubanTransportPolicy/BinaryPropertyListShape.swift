/// Checks a binary property list before Foundation reads it: no cycles, no deep nesting, no object that contains millions of others by
/// sharing them, and no types that the XML form lacks, such as sets, which crash Foundation.
struct BinaryPropertyListShape {
    private let bytes: [UInt8]
    private let depthMax: Int
    private var offsetSize = 0
    private var referenceSize = 0
    private var count = 0
    private var offsetTable = 0
    private var states: [State] = []

    private enum State {
        case new
        case entered
        /// The height of the object, and the number of objects that a full traversal visits.
        case checked(height: Int, visits: Int)
    }

    private static let visitsMax = 1 << 20

    init(_ bytes: [UInt8], depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
    }

    mutating func check() throws(TransportConfigurationError) {
        // Eight bytes of the header, and the trailer: sizes, number of objects, top object, offset of the table.
        guard bytes.count >= 40 else { throw .notAPropertyList }
        let trailer = bytes.count - 32
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else { throw .notAPropertyList }
        count = try integer(at: trailer + 8, size: 8)
        let top = try integer(at: trailer + 16, size: 8)
        offsetTable = try integer(at: trailer + 24, size: 8)
        guard count <= trailer, offsetTable <= trailer, count * offsetSize <= trailer - offsetTable else { throw .notAPropertyList }
        states = Array(repeating: .new, count: count)
        _ = try visit(top, depth: 1)
    }

    private mutating func visit(_ object: Int, depth: Int) throws(TransportConfigurationError) -> (height: Int, visits: Int) {
        guard object < count else { throw .notAPropertyList }
        // The dictionary `plist` of the XML form is a level that this form lacks.
        if depth >= depthMax { throw .tooDeep }
        switch states[object] {
        case .entered: throw .notAPropertyList
        case .checked(let height, let visits):
            if depth + height > depthMax { throw .tooDeep }
            return (height, visits)
        case .new: break
        }
        states[object] = .entered
        var height = 1
        var visits = 1
        for child in try children(of: object) {
            let below = try visit(child, depth: depth + 1)
            height = max(height, below.height + 1)
            visits += below.visits
            if visits > Self.visitsMax { throw .tooDeep }
        }
        states[object] = .checked(height: height, visits: visits)
        return (height, visits)
    }

    /// Returns the objects that an array or a dictionary refers to.
    private func children(of object: Int) throws(TransportConfigurationError) -> [Int] {
        let offset = try integer(at: offsetTable + object * offsetSize, size: offsetSize)
        guard offset >= 8, offset < offsetTable else { throw .notAPropertyList }
        let marker = bytes[offset]
        guard Self.isUsable(marker) else { throw .notAPropertyList }
        guard [0xA0, 0xD0].contains(marker & 0xF0) else { return [] }
        var start = offset + 1
        var length = Int(marker & 0x0F)
        if length == 0x0F {
            guard start < offsetTable, bytes[start] & 0xF0 == 0x10, bytes[start] & 0x0F <= 3 else { throw .notAPropertyList }
            let size = 1 << Int(bytes[start] & 0x0F)
            length = try integer(at: start + 1, size: size)
            start += 1 + size
        }
        let references = marker & 0xF0 == 0xD0 ? 2 * min(length, bytes.count) : length
        guard references <= bytes.count, start + references * referenceSize <= offsetTable else { throw .notAPropertyList }
        var found: [Int] = []
        for index in 0..<references { found.append(try integer(at: start + index * referenceSize, size: referenceSize)) }
        return found
    }

    /// Whether an object is a Boolean, a number, a date, data, text, an array or a dictionary.
    private static func isUsable(_ marker: UInt8) -> Bool {
        [0x08, 0x09].contains(marker) || [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0xA0, 0xD0].contains(marker & 0xF0)
    }

    /// Returns an unsigned integer in network order that fits the file's size.
    private func integer(at offset: Int, size: Int) throws(TransportConfigurationError) -> Int {
        guard offset >= 0, offset <= bytes.count - size else { throw .notAPropertyList }
        var value: UInt64 = 0
        for byte in bytes[offset..<(offset + size)] { value = value << 8 | UInt64(byte) }
        guard value <= UInt64(bytes.count) else { throw .notAPropertyList }
        return Int(value)
    }
}
