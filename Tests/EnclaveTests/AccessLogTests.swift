// The keys and the end of the access log in the enclave (Specs/access-log.md).

import Enclave
import EnclaveWire
import Testing
import VaubanDER
import VaubanRefusal
import VaubanSecretBytes

@Suite("The access log's keys")
struct AccessLogTests {
    private func link(_ number: Int64, _ byte: UInt8 = 1) -> AccessLogLink {
        AccessLogLink(number: number, series: 1, digest: [UInt8](repeating: byte, count: 32))
    }

    private func made(by vault: Vault) throws -> (key: [UInt8], sealed: [UInt8], end: AccessLogEnd) {
        let made = try vault.makeSeriesKey()
        return (bytes(made.key), made.sealed, made.end)
    }

    private let file = "\(Workbench.user)/log"

    @Test("Keys are made while locked, too, and open only while unlocked, also after a restart and new class keys")
    func locking() throws {
        let bench = Workbench()
        let vault = try bench.startProtected()
        let first = try made(by: vault)
        #expect(first.sealed.count == EnclaveRequest.sealedSeriesKeyBytes && first.end == .empty)
        try vault.lock()
        let second = try made(by: vault)
        #expect(first.key != second.key)
        #expect(refusal { _ = try vault.openSeriesKey(first.sealed) }?.reason == .locked)
        try vault.unlock(secret(Workbench.passcode))
        #expect(try bytes(vault.openSeriesKey(first.sealed)) == first.key && bytes(vault.openSeriesKey(second.sealed)) == second.key)
        try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode), rolls: true)
        let again = bench.start()
        #expect(try made(by: again).sealed.count == EnclaveRequest.sealedSeriesKeyBytes)
        #expect(refusal { _ = try again.openSeriesKey(first.sealed) }?.reason == .beforeFirstUnlock)
        try again.unlock(secret(Workbench.otherPasscode))
        #expect(try bytes(again.openSeriesKey(second.sealed)) == second.key)
    }

    @Test("A key that was altered, or is of another device or user, does not open")
    func foreignKeys() throws {
        let vault = try Workbench().startProtected()
        var (_, sealed, _) = try made(by: vault)
        for other in [try Workbench(device: 9).startProtected(), Workbench().start(Workbench.user + 1)] {
            _ = try made(by: other)
            #expect(refusal { _ = try other.openSeriesKey(sealed) }?.reason == .keyDestroyed)
        }
        sealed[sealed.count - 1] ^= 1
        #expect(refusal { _ = try vault.openSeriesKey(sealed) }?.reason == .keyDestroyed)
        #expect(refusal { _ = try vault.openSeriesKey([]) }?.reason == .keyDestroyed)
    }

    @Test("The end of the log is extended by later records alone, is durable, and begins again with an erasure")
    func anchor() throws {
        let bench = Workbench()
        let vault = try bench.startProtected()
        let (_, sealed, _) = try made(by: vault)
        let anchor = try vault.anchorLog([link(1), link(2), link(7)])
        let end = anchor.end
        #expect(end.number == 7 && anchor.began == 0)
        #expect(try vault.anchorLog([link(6, 2), link(7, 2)]) == anchor && vault.anchorLog([]) == anchor)
        #expect(try bench.start().anchorLog([]) == anchor)
        bench.store.fail(.accessLog, with: .full)
        #expect(refusal { _ = try vault.anchorLog([link(8)]) }?.reason == .storageFull)
        bench.store.fail(.accessLog, with: nil)
        #expect(try vault.anchorLog([]) == anchor)
        try vault.erase(secret(Workbench.passcode))
        let restarted = try made(by: vault).end
        #expect(restarted.number == 7 && restarted.isStart && !end.isStart)
        #expect(refusal { _ = try vault.openSeriesKey(sealed) }?.reason == .keyDestroyed)
        let next = try vault.anchorLog([link(8)])
        #expect(next.end.number == 8 && next.began == 7)
    }

    @Test("The end depends on every record before it") func foldedEnd() throws {
        let vault = try Workbench().startProtected()
        _ = try made(by: vault)
        let end = try vault.anchorLog([link(1), link(2)])
        let other = try Workbench().startProtected()
        _ = try made(by: other)
        _ = try other.anchorLog([link(1, 9)])
        #expect(try other.anchorLog([link(2)]) != end)
        let same = try Workbench().startProtected()
        _ = try made(by: same)
        #expect(try same.anchorLog([link(1)]) != end && same.anchorLog([link(2)]) == end)
    }

    @Test("A first passcode makes another key pair, and what the earlier one sealed still opens") func firstPasscode() throws {
        let bench = Workbench()
        let vault = bench.start()
        let first = try made(by: vault)
        let before = try #require(bench.store.files[file])
        try vault.setPasscode(secret(Workbench.passcode))
        let second = try made(by: vault)
        let after = try #require(bench.store.files[file])
        #expect(after.count > before.count)
        #expect(try bytes(vault.openSeriesKey(first.sealed)) == first.key && bytes(vault.openSeriesKey(second.sealed)) == second.key)
        // The earlier pair alone does not open what came after it.
        bench.store.files[file] = before
        let again = bench.start()
        try again.unlock(secret(Workbench.passcode))
        #expect(refusal { _ = try again.openSeriesKey(second.sealed) }?.reason == .keyDestroyed)
    }

    @Test("State of version 1 opens, and where that log begins is unknown until an erasure")
    func earlierVersion() throws {
        struct Earlier: DERWritable {
            let end: AccessLogEnd
            func write(into der: inout DERWriter) throws {
                try der.sequence { fields in
                    try fields.integer(1)
                    try fields.value(end)
                    try fields.list([AccessLogEnd]())
                }
            }
        }
        let bench = Workbench()
        let vault = try bench.startProtected()
        let end = AccessLogEnd(number: 7, chain: [UInt8](repeating: 5, count: 32))
        try bench.put(Earlier(end: end), as: .accessLog)
        #expect(try vault.anchorLog([]) == AccessLogAnchor(end: end, began: nil))
        let next = try vault.anchorLog([link(8)])
        #expect(try next.end.number == 8 && next.began == nil && bench.start().anchorLog([]) == next)
        try vault.erase(secret(Workbench.passcode))
        #expect(try vault.anchorLog([]).began == 8)
    }

    @Test("Damaged state, and that of another device, is set aside")
    func damage() throws {
        let bench = Workbench()
        let before = try bench.startProtected()
        let (_, sealed, _) = try made(by: before)
        _ = try before.anchorLog([link(7)])
        bench.store.files[file]?[40] ^= 1
        let vault = bench.start()
        try vault.unlock(secret(Workbench.passcode))
        #expect(try made(by: vault).end == .empty)
        #expect(bench.store.files["\(file).quarantined-1"] != nil)
        #expect(try vault.anchorLog([link(9)]).began == nil)
        #expect(refusal { _ = try vault.openSeriesKey(sealed) }?.reason == .keyDestroyed)
        // Where the log begins stays unknown, even if nothing was written since.
        let quiet = Workbench()
        _ = try quiet.startProtected().anchorLog([link(7)])
        quiet.store.files[file]?[40] ^= 1
        for _ in 1...2 { #expect(try quiet.start().anchorLog([]).began == nil) }
        // The state of another device does not count either.
        let other = Workbench(device: 9)
        let elsewhere = try other.startProtected()
        other.store.files[file] = bench.store.files[file]
        #expect(try made(by: elsewhere).end == .empty)
    }
}
