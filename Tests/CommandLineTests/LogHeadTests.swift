import Testing
import VaubanCommands
import VaubanLogHead
import VaubanSignedNote

/// What a log says to an earlier end of it, and what a device remembers of the logs of others (Specs/access-log.md, Specs/sync.md).
@Suite struct LogHeadTests {
    private func head(_ number: Int64, _ byte: UInt8 = 1, of device: UInt8 = 1) -> LogHead {
        LogHead(
            device: [UInt8](repeating: device, count: LogHeadLimits.deviceBytes), user: 1, number: number,
            chain: [UInt8](repeating: byte, count: LogHeadLimits.chainBytes))
    }

    @Test("A log contains its earlier end, is shorter, is another, lacks it, or does not keep it")
    func comparisons() {
        let (end, old) = (head(9, 9), head(5))
        #expect(HeadComparison(old, in: end, chain: old.chain, oldest: 1) == .contained(more: 4))
        #expect(HeadComparison(end, in: end, chain: end.chain, oldest: 9) == .contained(more: 0))
        #expect(HeadComparison(end, in: old, chain: nil, oldest: 1) == .shorter(end: 5))
        #expect(HeadComparison(old, in: end, chain: head(5, 2).chain, oldest: 1) == .another)
        #expect(HeadComparison(head(9, 2), in: end, chain: end.chain, oldest: 1) == .another)
        #expect(HeadComparison(old, in: end, chain: nil, oldest: 3) == .missing)
        // The database is empty, and the enclave knows better.
        #expect(HeadComparison(end, in: end, chain: nil, oldest: 0) == .missing)
        #expect(HeadComparison(old, in: end, chain: nil, oldest: 6) == .notKept(oldest: 6))
        // After an erasure.
        #expect(HeadComparison(old, in: head(5, 0), chain: nil, oldest: 0) == .notKept(oldest: 0))
        #expect(HeadComparison(head(5, 0), in: head(5, 0), chain: nil, oldest: 0) == .contained(more: 0))
        // A log without records is the beginning of each.
        #expect(HeadComparison(head(0, 0), in: end, chain: nil, oldest: 1) == .contained(more: 9))
    }

    private let device = [UInt8](repeating: 7, count: 16)

    private func file(_ head: LogHead, at time: Int64) -> LogHeadFile {
        let key = NoteKey(name: head.origin, kind: .text, publicKey: [UInt8](repeating: 2, count: NoteKey.publicKeyBytes))
        let cosigner = NoteKey(name: head.origin, kind: .cosignature, publicKey: key.publicKey)
        let note = SignedNote(text: head.text, signatures: [key.signature([UInt8](repeating: 3, count: 64))])
        return LogHeadFile(time: time, note: note, key: key, cosigner: cosigner, seen: [:])
    }

    private func memory(of head: LogHead, at time: Int64) -> LogHeadMemory {
        let file = file(head, at: time)
        var memory = LogHeadMemory()
        memory.devices[device] = LogHeadMemory.Device(time: time, note: file.note, cosigner: file.cosigner)
        return memory
    }

    @Test("A log that goes back is found, however late, and an earlier file is not taken for one")
    func findings() {
        let memory = memory(of: head(5), at: 100)
        #expect(LogHeadMemory().finding(in: file(head(5), at: 1), of: device) == .news)
        #expect(memory.finding(in: file(head(6, 2), at: 101), of: device) == .news)
        #expect(memory.finding(in: file(head(5), at: 101), of: device) == .nothingNew)
        #expect(memory.finding(in: file(head(4), at: 99), of: device) == .earlierFile)
        #expect(memory.finding(in: file(head(4, 2), at: 101), of: device) == .setback(.init(seen: 5, found: 4, time: 101)))
        #expect(memory.finding(in: file(head(5, 2), at: 101), of: device) == .setback(.init(seen: 5, found: 5, time: 101)))
        // An erased log continues after its number.
        #expect(memory.finding(in: file(head(5, 0), at: 101), of: device) == .news)
        #expect(memory.finding(in: file(head(4, 0), at: 101), of: device) == .setback(.init(seen: 5, found: 4, time: 101)))
        // Another log in place of this one is a setback, whatever its number.
        #expect(memory.finding(in: file(head(9, 2, of: 2), at: 101), of: device) == .setback(.init(seen: 5, found: 9, time: 101)))
    }

    @Test("A memory of logs reads back as it was written, and nothing else is read")
    func coding() {
        var memory = memory(of: head(5), at: 100)
        #expect(LogHeadMemory(memory.bytes) == memory && LogHeadMemory(LogHeadMemory().bytes) == LogHeadMemory())
        memory.devices[device]?.setback = .init(seen: 5, found: 4, time: 101)
        memory.devices[device]?.own = file(head(8, of: 2), at: 1).note
        #expect(LogHeadMemory(memory.bytes) == memory)
        for count in 0..<memory.bytes.count { #expect(LogHeadMemory(Array(memory.bytes.prefix(count))) == nil) }
        #expect(LogHeadMemory(memory.bytes + [0]) == nil)
    }
}
