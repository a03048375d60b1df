import Crypto

/// The chains up to a position, to compare with what others report about earlier positions.
package struct SyncTrail: Hashable {
    /// How many files precede those whose chains are known: none, unless the first files were gone and the record began after them.
    private(set) var base: Int64 = 0
    /// The chain after each later file.
    private(set) var chains: [[UInt8]] = []
    /// SHA-256 of the last file.
    private(set) var digest = [UInt8](repeating: 0, count: 32)
    /// The last of the files with what was rewritten from the files in a gap. It must exist.
    private(set) var tail: Int64 = 0

    package init() {}

    init(base: Int64, chains: [[UInt8]], digest: [UInt8], tail: Int64) {
        self.base = base
        self.chains = chains
        self.digest = digest
        self.tail = tail
    }

    package var position: SyncPosition {
        chains.last.map { SyncPosition(number: base + Int64(chains.count), chain: $0) } ?? SyncPosition()
    }

    /// Returns the chain after the file with this number; nil if it is not known.
    package func chain(at number: Int64) -> [UInt8]? {
        number > base && number <= position.number ? chains[Int(number - base) - 1] : nil
    }

    /// Returns the chains up to a file that was read, at most the last `max` of them.
    func chains(through last: Int64, max: Int) -> [[UInt8]] { Array(chains.prefix(Int(last - base)).suffix(max)) }

    package mutating func append(_ file: [UInt8]) {
        chains.append(position.after(file).chain)
        digest = Self.digest(of: file)
    }

    /// Moves on to the end of a gap. The record must have the chain at the current position; the file after the gap is appended next.
    mutating func skip(to record: CompactionRecord) {
        tail = max(tail, record.end)
        guard record.last > position.number else { return }
        if chains.isEmpty {
            (base, chains) = (record.last - Int64(record.chains.count), record.chains)
        } else {
            chains += record.chains.suffix(Int(record.last - position.number))
        }
    }

    static func digest(of file: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: file)) }
}
