/// Splits the bytes of a node into lines.
package struct EtcdLines: Sendable {
    private var rest: [UInt8] = []

    package init() {}

    /// Returns the complete lines, without empty ones.
    /// - Throws: `garbage` if one is longer than etcd's longest.
    package mutating func take(_ bytes: some Collection<UInt8>) throws(EtcdError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var bytes = bytes[...]
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest + bytes[..<end]
            guard line.count <= EtcdLimits.watchBytesMax else { throw .garbage }
            if !line.isEmpty { lines.append(line) }
            rest = []
            bytes = bytes[bytes.index(after: end)...]
        }
        rest += bytes
        guard rest.count <= EtcdLimits.watchBytesMax else { throw .garbage }
        return lines
    }
}
