import Enclave
import EnclaveWire
import Foundation
import Synchronization
import Testing
import VaubanAccessPolicy
import VaubanKeyWire
import VaubanRefusal

/// How the enclave counts what applications do with private keys (Specs/access-log.md).
@Suite struct KeyUseCounterTests {
    private let bench = Workbench()

    private func key() throws -> EnclaveKey { try bench.start().makeKey(.p256, AccessControl(protection: .always, flags: [])) }

    @Test("Each use is reported once, however many threads sign while the numbers are taken")
    func exact() throws {
        let rings = Mutex(0)
        let ledger = KeyUseLedger { rings.withLock { $0 += 1 } }
        let counter = ledger.counter(of: try key(), by: 1000, nil)
        let reported = Mutex<Int64>(0)
        @Sendable func take() {
            for use in ledger.take(isTrusted: { _, _ in false }).flatMap(\.uses) { reported.withLock { $0 += use.count } }
        }
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for step in 0..<1000 {
                counter.add(.sign, .done)
                if number == 0, step % 50 == 0 { take() }
            }
        }
        take()
        #expect(reported.withLock { $0 } == 8000 && rings.withLock { $0 } >= 1)
        #expect(ledger.take(isTrusted: { _, _ in false }).isEmpty)
    }

    @Test("Uses are counted by operation and outcome, and together for all connections of a program")
    func apart() throws {
        let ledger = KeyUseLedger {}
        let key = try key()
        let identity = CallerIdentity(.flatpak(name: "org.example.App"))
        for _ in 0..<2 {
            let counter = ledger.counter(of: key, by: 1000, identity)
            counter.add(.sign, .done)
            counter.add(.decrypt, .approved)
            counter.add(.exchange, .approved)
            counter.add(.sign, .notApproved)
        }
        ledger.counter(of: nil, by: 1001, nil).add(.decapsulate, .done)
        let notices = ledger.take(isTrusted: { _, _ in false })
        let own = try #require(notices.first { $0.user == 1000 })
        #expect(own.identity == identity && notices.count == 2)
        #expect(
            Set(own.uses.map { "\($0.action) \($0.outcome) \($0.count)" })
                == ["signed done 2", "decrypted approved 4", "signed notApproved 2"])
        #expect(Set(own.uses.map { $0.key?.digest.count }) == [32])
        #expect(notices.first { $0.user == 1001 }?.uses.map(\.key) == [nil])
    }

    @Test("Processes of one program are counted together, and without parents if these differ")
    func parents() throws {
        let ledger = KeyUseLedger {}
        let key = try key()
        func report(_ parents: [[String]]) throws -> KeyUseNotice {
            for parents in parents {
                ledger.counter(of: key, by: 1000, CallerIdentity(.flatpak(name: "org.example.App"), parents: parents)).add(.sign, .done)
            }
            let notices = ledger.take(isTrusted: { _, _ in false })
            #expect(notices.count == 1 && notices.flatMap(\.uses).map(\.count) == [Int64(parents.count)])
            return try #require(notices.first)
        }
        let terminal = ["/usr/bin/bash", "/usr/bin/xterm"], job = ["/usr/sbin/cron"]
        let same = try report([terminal, terminal])
        #expect(same.identity?.parents == terminal)
        #expect(try report([terminal, job, terminal]).identity == same.identity?.withoutParents)
        #expect(try report([[], job]).identity?.parents == [])
        // What could not be reported keeps them.
        ledger.putBack(same)
        let notice = try #require(ledger.take(isTrusted: { _, _ in false }).first)
        #expect(notice == same)
    }

    @Test("Uses that could not be reported are reported later, together with newer ones")
    func putBack() throws {
        let ledger = KeyUseLedger {}
        let counter = ledger.counter(of: try key(), by: 1000, nil)
        counter.add(.sign, .done)
        for notice in ledger.take(isTrusted: { _, _ in false }) { ledger.putBack(notice) }
        counter.add(.sign, .done)
        #expect(ledger.take(isTrusted: { _, _ in false }).flatMap(\.uses).map(\.count) == [2])
    }

    @Test("A refusal by the user is an outcome, and a mistake of the caller is not")
    func outcomes() {
        #expect(KeyUseOutcome(of: Refusal(.cancelled)) == .notApproved && KeyUseOutcome(of: Refusal(.authenticationFailed)) == .notApproved)
        #expect(KeyUseOutcome(of: Refusal(.noPromptAgent)) == .refused)
        #expect(KeyUseOutcome(of: Refusal(.badParameter)) == nil && KeyUseOutcome(of: Refusal(.interactionNotAllowed)) == nil)
    }

    @Test("No program uses up another's quota; the excess is counted")
    func bounds() {
        var tally = KeyUseTally()
        func notice(of user: UInt32, _ name: String, keys: Range<Int>) -> KeyUseNotice {
            KeyUseNotice(
                user: user, identity: CallerIdentity(.flatpak(name: name)), teamIsTrusted: false,
                uses: keys.map {
                    let digest = [UInt8](repeating: UInt8($0 % 256), count: 31) + [UInt8($0 / 256)]
                    return CountedKeyUse(
                        key: UsedKey(digest: digest, label: Array(digest.prefix(20))), action: .signed, outcome: .done, count: 1)
                })
        }
        for start in stride(from: 0, to: 1024, by: 32) { tally.add(notice(of: 1, "greedy", keys: start..<start + 32)) }
        tally.add(notice(of: 1, "modest", keys: 0..<1))
        for number in 0..<100 { tally.add(notice(of: 2, "\(number)", keys: 0..<1)) }
        let notices = tally.take()
        let greedy = notices.filter { $0.identity == CallerIdentity(.flatpak(name: "greedy")) }.flatMap(\.uses)
        #expect(greedy.reduce(0) { $0 + $1.count } == 1024 && greedy.count == KeyUseTally.usesMax + 1)
        #expect(notices.filter { $0.identity == CallerIdentity(.flatpak(name: "modest")) }.flatMap(\.uses).map(\.count) == [1])
        let ofSecond = notices.filter { $0.user == 2 }
        #expect(ofSecond.flatMap(\.uses).count == KeyUseTally.programsMax)
        #expect(ofSecond.reduce(0) { $0 + $1.unrecorded } == Int64(100 - KeyUseTally.programsMax))
        #expect(notices.allSatisfy { $0.uses.count <= KeyUseNotice.usesMax } && tally.isEmpty)
    }

    @Test("Counts do not overflow") func overflow() {
        var tally = KeyUseTally()
        let most = CountedKeyUse(key: nil, action: .signed, outcome: .done, count: CountedKeyUse.countMax)
        for _ in 0..<3 {
            tally.add(
                KeyUseNotice(user: 1, identity: nil, teamIsTrusted: false, unrecorded: CountedKeyUse.countMax, uses: [most, most]))
        }
        #expect(tally.take().flatMap(\.uses).map(\.count) == [CountedKeyUse.countMax])
    }
}
