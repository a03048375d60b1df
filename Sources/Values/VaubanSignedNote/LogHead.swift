import FoundationEssentials
import VaubanLogHead

/// The end of a user's access log on one device, as a text that can be signed and kept elsewhere (Specs/access-log.md, "The head"). It has
/// the lines of a C2SP checkpoint: the log, the number of its last record, and the hash over it and all records before it.
package struct LogHead: Hashable, Sendable {
    /// The first part of the first line, with the version.
    private static let family = "vauban-access-log-v1"

    package let device: [UInt8]
    package let user: UInt32
    package let number: Int64
    package let chain: [UInt8]

    package init(device: [UInt8], user: UInt32, number: Int64, chain: [UInt8]) {
        self.device = device
        self.user = user
        self.number = number
        self.chain = chain
    }

    /// Reads a text. Returns nil if it is anything but what `text` returns.
    package init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, lines[3].isEmpty, let number = Int64(lines[1]), (0...LogHeadLimits.numberMax).contains(number),
            let chain = Data(base64Encoded: String(lines[2])), chain.count == LogHeadLimits.chainBytes
        else { return nil }
        let origin = lines[0].split(separator: "/", omittingEmptySubsequences: false)
        guard origin.count == 3, let device = Self.bytes(hex: origin[1]), let user = UInt32(origin[2]) else { return nil }
        self.init(device: device, user: user, number: number, chain: Array(chain))
        // Each head has exactly one text.
        guard self.text.utf8.elementsEqual(text.utf8) else { return nil }
    }

    /// The name of the log, also as the signer of its heads.
    package var origin: String { "\(Self.family)/\(Self.hex(device))/\(user)" }

    package var text: String { "\(origin)\n\(number)\n\(Data(chain).base64EncodedString())\n" }

    /// Whether the log has no record, or those up to this number were erased with their keychain.
    package var isStart: Bool { chain.allSatisfy { $0 == 0 } }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }

    private static func bytes(hex: Substring) -> [UInt8]? {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        let count = LogHeadLimits.deviceBytes
        guard hex.utf8.count == 2 * count, digits.count == 2 * count else { return nil }
        return (0..<count).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
    }
}
