/// The padded form of what is sealed for a circle: the length of a payload in four bytes, the payload, and zeros up to a power of two.
enum PaddedPayload {
    private static let bytesMin = 4096

    static func padded(_ payload: [UInt8]) -> [UInt8] {
        let content = BackupFormat.number(payload.count) + payload
        var size = bytesMin
        while size < content.count { size *= 2 }
        return content + [UInt8](repeating: 0, count: size - content.count)
    }

    /// Returns the payload; nil if the padding is wrong.
    static func payload(of padded: [UInt8]) -> [UInt8]? {
        var reader = ByteReader(padded)
        guard padded.count >= bytesMin, padded.count & (padded.count - 1) == 0, let count = reader.number(),
            let payload = reader.take(count),
            padded[reader.position...].allSatisfy({ $0 == 0 })
        else { return nil }
        return payload
    }
}
