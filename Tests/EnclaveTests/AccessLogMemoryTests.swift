import Enclave
import EnclaveWire
import SimulatedHost
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanLogHead
import VaubanRefusal
import VaubanUserModel

/// The vault remembers what the disk has of the access log, and never anything else.
@Suite("The access log's state in memory")
struct AccessLogMemoryTests {
    private let bench = Workbench()
    private let store: WatchedStore
    private let host: EnclaveHost

    init() {
        store = WatchedStore(bench.store)
        host = EnclaveHost(
            backend: bench.device, store: store, clock: bench.clock,
            stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)))
    }

    private func start() -> Vault { Vault(user: Workbench.user, host: host) }

    private func startProtected() throws -> Vault {
        let vault = start()
        try vault.setPasscode(secret(Workbench.passcode))
        return vault
    }

    private func link(_ number: Int64) -> AccessLogLink {
        AccessLogLink(number: number, series: 1, digest: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32))
    }

    @Test("After the first read, no use of the log reads its state again") func stateIsReadOnce() throws {
        let vault = try startProtected()
        let sealed = try vault.makeSeriesKey().sealed
        #expect(store.reads == 1)
        for number in 1...50 as ClosedRange<Int64> { _ = try vault.anchorLog([link(number)]) }
        _ = try (vault.makeSeriesKey().sealed, bytes(vault.openSeriesKey(sealed)), vault.signLogHead(LogHeadRequest()))
        try vault.lock()
        _ = try (vault.makeSeriesKey().sealed, vault.anchorLog([link(51)]))
        try vault.erase(secret(Workbench.passcode))
        #expect(try vault.anchorLog([]).began == 51)
        #expect(store.reads == 1)
        // Another process reads once, even if it writes nothing.
        let again = start()
        for _ in 1...3 { #expect(try again.anchorLog([]).end.number == 51) }
        #expect(store.reads == 2)
    }

    @Test("After a write that failed, the disk is read again, and what it has counts", arguments: WatchedStore.Fault.allCases)
    func failedWriteIsReadAgain(_ fault: WatchedStore.Fault) throws {
        let vault = try startProtected()
        let before = try vault.anchorLog([link(1), link(2)])
        store.failNext(with: fault)
        #expect(refusal { _ = try vault.anchorLog([link(3)]) }?.reason == (fault == .full ? .storageFull : .storageFailed))
        let reads = store.reads
        let found = try vault.anchorLog([])
        #expect(store.reads == reads + 1)
        #expect(fault == .unsure ? found.end.number == 3 : found == before)
        #expect(try start().anchorLog([]) == found)
        // What is added twice counts once.
        let next = try vault.anchorLog([link(3), link(4)])
        #expect(try next.end.number == 4 && start().anchorLog([]) == next)
        // A record of other bytes would have led to another end.
        let calm = try Workbench().startProtected()
        #expect(try calm.anchorLog([link(1), link(2), link(3), link(4)]) == next)
    }

    @Test("After an unsure write, the disk may also have the earlier state") func unsureWriteThatWasLost() throws {
        let vault = try startProtected()
        let before = try vault.anchorLog([link(1)])
        let files = bench.store.files
        store.failNext(with: .unsure)
        #expect(refusal { _ = try vault.anchorLog([link(2)]) }?.reason == .storageFailed)
        bench.store.files = files
        #expect(try vault.anchorLog([]) == before)
    }

    @Test("A read that fails is repeated") func failedReadIsRepeated() throws {
        _ = try startProtected().anchorLog([link(1)])
        let vault = start()
        bench.store.failReading(with: .failed("the disk does not answer"))
        for _ in 1...2 { #expect(refusal { _ = try vault.anchorLog([]) }?.reason == .storageFailed) }
        bench.store.failReading(with: nil)
        #expect(try vault.anchorLog([]).end.number == 1)
    }

    @Test("If a keybag had to be read again, so is the log's state") func stateIsReadAgainWithTheKeybag() throws {
        let vault = try startProtected()
        let anchor = try vault.anchorLog([link(1)])
        let reads = store.reads
        bench.store.fail(.keybag, with: .unsure("the folder does not sync"))
        #expect(
            refusal { try vault.changePasscode(from: secret(Workbench.passcode), to: secret(Workbench.otherPasscode)) }?.reason
                == .storageFailed)
        bench.store.fail(.keybag, with: nil)
        #expect(try vault.anchorLog([]) == anchor && store.reads == reads + 1)
    }

    @Test("If an erasure was unsure, the log begins again, and teams lose their names, if and only if its keybag stands")
    func unsureErasure() throws {
        let team = TeamIdentifier(keyDigest: [UInt8](repeating: 1, count: 32))
        for (stands, isReadAtOnce) in [(true, true), (true, false), (false, true), (false, false)] {
            let vault = try startProtected()
            let before = try vault.anchorLog([link(1)])
            vault.teamNames.set("Team", of: team)
            let files = bench.store.files
            if !isReadAtOnce { bench.store.failReading(with: .failed("the disk does not answer")) }
            if stands {
                store.failNext(with: .unsure, of: .keybag)
            } else {
                bench.store.fail(.keybag, with: .unsure("the folder does not sync"))
            }
            #expect(refusal { try vault.erase(secret(Workbench.passcode)) }?.reason == .storageFailed)
            #expect((bench.store.files["\(Workbench.user)/keybag"] == files["\(Workbench.user)/keybag"]) != stands)
            bench.store.failReading(with: nil)
            bench.store.fail(.keybag, with: nil)
            let after = try vault.anchorLog([])
            #expect(stands ? after.began == 1 && after.end.isStart : after == before)
            #expect(try start().anchorLog([]) == after)
            #expect(vault.teamNames[team] == (stands ? nil : "Team"))
            #expect(vault.status.passcodeIsSet != stands)
            bench.store.files = [:]
        }
    }

    @Test("After damage, where the log begins stays unknown, even if that could not be written", arguments: WatchedStore.Fault.allCases)
    func damageOnABrokenDisk(_ fault: WatchedStore.Fault) throws {
        _ = try startProtected().anchorLog([link(1)])
        bench.store.files["\(Workbench.user)/log"]?[40] ^= 1
        let vault = start()
        store.failNext(with: fault)
        // After an unsure write the new state is used, and read again.
        let reason = refusal { _ = try vault.anchorLog([]) }?.reason
        #expect(reason == (fault == .unsure ? nil : fault == .full ? .storageFull : .storageFailed))
        // A power failure may undo it.
        bench.store.files["\(Workbench.user)/log"] = nil
        for _ in 1...2 { #expect(try vault.anchorLog([]).began == nil && start().anchorLog([]).began == nil) }
        #expect(try vault.anchorLog([link(2)]).began == nil && start().anchorLog([]) == vault.anchorLog([]))
        try vault.erase(secret(Workbench.passcode))
        #expect(try vault.anchorLog([]).began == 2 && start().anchorLog([]).began == 2)
    }

    @Test("If nothing tells whether a log was set aside, nothing is said of it") func failedListIsRepeated() throws {
        let vault = try startProtected()
        store.failListing(true)
        #expect(refusal { _ = try vault.anchorLog([]) }?.reason == .storageFailed)
        store.failListing(false)
        #expect(try vault.anchorLog([]).began == 0)
    }

    /// Expects that a restarted vault has the keys with which the running one seals.
    private func expectKeysOnDisk(_ vault: Vault) throws {
        let made = try vault.makeSeriesKey()
        let again = start()
        try again.unlock(secret(Workbench.passcode))
        let opened = try bytes(again.openSeriesKey(made.sealed))
        let key = bytes(made.key)
        #expect(opened == key)
    }

    /// Whatever was done and whatever failed, a restart finds what the running vault says.
    @Test("Random uses and failures leave memory and disk equal") func memoryEqualsDisk() throws {
        var chance = SplitMix64(seed: 11)
        var failures = 0, sealings = 0
        var vault = try startProtected()
        var number: Int64 = 0
        for _ in 0..<2000 {
            if chance.below(3) == 0 { store.failNext(with: WatchedStore.Fault.allCases[chance.below(WatchedStore.Fault.allCases.count)]) }
            let end = refusal {
                switch chance.below(8) {
                case 0, 1, 2:
                    number += 1
                    _ = try vault.anchorLog([link(number)])
                case 3: _ = try vault.anchorLog([link(max(1, number - 1))])
                case 4: try expectKeysOnDisk(vault)
                case 5: if vault.status.lock == .unlocked { try vault.lock() } else { try vault.unlock(secret(Workbench.passcode)) }
                case 6:
                    // Erased, it has no passcode.
                    guard chance.below(4) == 0 else { return }
                    try vault.erase(secret(Workbench.passcode))
                    try vault.setPasscode(secret(Workbench.passcode))
                default:
                    guard chance.below(4) == 0 else { return }
                    vault = start()
                }
            }
            if end != nil { failures += 1 }
            store.failNext(with: nil)
            let known = try vault.anchorLog([])
            #expect(try start().anchorLog([]) == known)
            // Locked, it makes no keys if it has none yet.
            if end != nil || chance.below(8) == 0, refusal({ try expectKeysOnDisk(vault) }) == nil { sealings += 1 }
        }
        #expect(number > 500 && failures > 100 && sealings > 100)
    }
}

/// A store in memory that counts the reads of the log's state, and whose next write of it or of another file, or whose lists, can fail.
final class WatchedStore: StateStore {
    enum Fault: CaseIterable {
        case full, failed
        /// The content is in place, but not durable.
        case unsure
    }

    private let inner: MemoryStore
    private let state = Mutex<(reads: Int, fault: Fault?, name: StateName, failsListing: Bool)>((0, nil, .accessLog, false))

    init(_ inner: MemoryStore) { self.inner = inner }

    var reads: Int { state.withLock { $0.reads } }
    func failNext(with fault: Fault?, of name: StateName = .accessLog) { state.withLock { ($0.fault, $0.name) = (fault, name) } }
    func failListing(_ fails: Bool) { state.withLock { $0.failsListing = fails } }

    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]? {
        if name == .accessLog { state.withLock { $0.reads += 1 } }
        return try inner.read(name, of: user, max: max)
    }

    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError) {
        guard let fault = state.withLock({ $0.name == name ? $0.fault : nil }) else {
            return try inner.replace(name, of: user, with: bytes)
        }
        failNext(with: nil)
        switch fault {
        case .full: throw .full
        case .failed: throw .failed("the disk is broken")
        case .unsure:
            try inner.replace(name, of: user, with: bytes)
            throw .unsure("the folder does not sync")
        }
    }

    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String { try inner.quarantine(name, of: user) }

    func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String] {
        if state.withLock({ $0.failsListing }) { throw .failed("the folder cannot be listed") }
        return try inner.quarantined(name, of: user)
    }
}
