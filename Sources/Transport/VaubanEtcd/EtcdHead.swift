import Crypto

/// The value at a file's own key: the file, or the length of its parts and their SHA-256.
///
/// etcd accepts requests of at most 1.5 MiB. A long file is written part by part, and becomes visible with its head, which is written last.
package enum EtcdHead: Hashable, Sendable {
    /// The size up to which a file is in one value, and the size of each part but the last. Even over a slow connection, such a part takes
    /// seconds, less than the timeout of a request.
    package static let partBytes = 256 << 10
    static let valueBytesMax = 1 + partBytes

    /// `00` ‖ file
    case whole([UInt8])
    /// `01` ‖ length (4) ‖ SHA-256 of the file (32)
    case split(length: Int, digest: [UInt8])

    package init(of file: [UInt8]) {
        self = file.count <= Self.partBytes ? .whole(file) : .split(length: file.count, digest: Array(SHA256.hash(data: file)))
    }

    package init?(value: [UInt8], fileBytesMax: Int) {
        switch value.first {
        case 0 where value.count <= Self.valueBytesMax: self = .whole(Array(value.dropFirst()))
        case 1 where value.count == 37:
            let length = value[1..<5].reduce(0) { $0 << 8 | Int($1) }
            guard length > Self.partBytes, length <= fileBytesMax else { return nil }
            self = .split(length: length, digest: Array(value[5...]))
        default: return nil
        }
    }

    package var value: [UInt8] {
        switch self {
        case .whole(let file): [0] + file
        case .split(let length, let digest): [1] + withUnsafeBytes(of: UInt32(length).bigEndian) { Array($0) } + digest
        }
    }

    /// Returns the byte ranges of a file's parts, in order.
    static func parts(of length: Int) -> [Range<Int>] {
        stride(from: 0, to: length, by: partBytes).map { $0..<min($0 + partBytes, length) }
    }

    static func hex(_ digest: [UInt8]) -> String {
        String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
