import Keychain
import KeychainStore
import Testing
import VaubanDER
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanSecretBytes
import VaubanUserModel

/// How much of the access log programs can take (Specs/access-log.md).
@Suite struct AccessLogAllowanceTests {
    /// The bytes of a log record of one unit in the database, with nonce and tag.
    private static let unitBytes = KeychainLimits.logUnitBytes + 28
    private static let start: UInt64 = 1_000_000_000_000

    private func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

    /// Returns a program with the longest texts.
    private func longestProgram(_ number: Int = 0) -> AccessProgram {
        AccessProgram(
            application: text(AccessProgram.textBytesMax), path: text(AccessProgram.pathBytesMax - 4) + "\(1000 + number)",
            throughCommandLine: true, commands: [String](repeating: text(AccessProgram.textBytesMax), count: 8))
    }

    private func longestParents(_ number: Int) -> [String] {
        [String](repeating: text(AccessProgram.textBytesMax), count: 7) + [text(AccessProgram.textBytesMax - 4) + "\(1000 + number)"]
    }

    /// Returns as many uses as can be pending, each of another item with the longest texts, by processes with the same parents, or each by
    /// one with other parents.
    private func largestUses(of program: AccessProgram, apart: Bool = false) -> PendingUses {
        var uses = PendingUses()
        let caller = AccessCaller(program, parents: longestParents(0))
        for number in 0..<KeychainLimits.logPendingUsesMax {
            let identity = [UInt8](repeating: UInt8(number & 255), count: 8) + [UInt8](repeating: UInt8(number >> 8), count: 8)
            let item = UsedItem(item: identity, kind: .max, owner: text(UsedItem.textBytesMax), name: text(UsedItem.textBytesMax))
            let own = apart ? AccessCaller(program, parents: longestParents(number)) : caller
            uses.add(AccessUse(caller: own, action: .read, outcome: .done, item: item, date: 800_000_000_000_000))
        }
        return uses
    }

    /// Returns the bytes of each record in the database.
    private func sealedBytes(_ records: [AccessRecord]) throws -> [Int] {
        let key = SeriesKey(SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
        return try records.map { try key.seal(try $0.encoded(), number: 1, series: 1).count }
    }

    private func uses(in records: [AccessRecord]) -> Int64 { records.flatMap(\.items).reduce(0) { $0 + $1.count } }

    @Test("One program writes about an eighth of the log at once at most, however large its log records are", arguments: [false, true])
    func largestRecords(apart: Bool) throws {
        var allowance = RecordAllowance()
        var bytes: [Int] = []
        for _ in 0..<4 {
            let (records, held) = largestUses(of: longestProgram(), apart: apart).records(within: &allowance, at: Self.start)
            bytes += try sealedBytes(records)
            // What waits is all there, and is little.
            var other = RecordAllowance()
            let waiting = held.records(within: &other, at: Self.start).records
            #expect(uses(in: records + waiting) == Int64(KeychainLimits.logPendingUsesMax))
            #expect(waiting.flatMap(\.items).count <= AccessRecord.itemsMax)
        }
        let written = bytes.reduce(0, +)
        // With one short log record beyond the allowance.
        #expect(written <= (Int(KeychainLimits.logBurst) + 1) * Self.unitBytes)
        // The allowance is used up, and is an eighth of the log except for nonces and tags.
        #expect(written > 3900 * KeychainLimits.logUnitBytes && bytes.contains { $0 > 8 * KeychainLimits.logUnitBytes })
        #expect(Int64(KeychainLimits.logBurst) * Int64(KeychainLimits.logUnitBytes) < KeychainDatabase.logBytesMax / 8)
    }

    @Test("Beyond its allowance a program has one short log record in a second, which names an item and counts the others")
    func shortRecords() throws {
        var allowance = RecordAllowance()
        func written(at now: UInt64) -> [AccessRecord] { largestUses(of: longestProgram()).records(within: &allowance, at: now).records }
        for _ in 0..<3 { _ = written(at: Self.start) }
        for part in 0..<4 as Range<UInt64> {
            #expect(written(at: Self.start + part * KeychainLimits.logSumNanoseconds / 4).isEmpty)
        }
        let records = written(at: Self.start + KeychainLimits.logSumNanoseconds)
        #expect(try sealedBytes(records) == [Self.unitBytes])
        let record = try #require(records.first)
        #expect(record.items.map(\.count) == [1, Int64(KeychainLimits.logPendingUsesMax) - 1])
        #expect(record.items.map(\.isFurther) == [false, true])
        // The program's path keeps both of its ends.
        let path = try #require(record.program?.path)
        #expect(path.utf8.count <= AccessProgram.textBytesMax && path.contains("…") && path.hasSuffix("x1000"))
        #expect(record.program?.commands == [] && record.program?.throughCommandLine == true && record.parents.isEmpty)
    }

    @Test("Uses of one item by many processes of a program wait as one use with a count")
    func heldUses() {
        let program = longestProgram()
        var allowance = RecordAllowance()
        for _ in 0..<3 { _ = largestUses(of: program).records(within: &allowance, at: Self.start) }
        let item = UsedItem(item: [UInt8](repeating: 1, count: 16), kind: 1, owner: "org.example.mail", name: "mail/anna")
        var uses = PendingUses()
        for _ in 0..<100 {
            let caller = AccessCaller(program)
            uses.add(AccessUse(caller: caller, action: .read, outcome: .done, item: item, date: 800_000_000_000_000))
        }
        let (records, held) = uses.records(within: &allowance, at: Self.start)
        #expect(records.isEmpty)
        let later = held.records(within: &allowance, at: Self.start + KeychainLimits.logSumNanoseconds).records
        #expect(later.flatMap(\.items).map(\.count) == [100])
    }

    @Test("All programs of a user write two thirds of the log at once at most, and each of them is named")
    func programsOfUser() throws {
        var allowance = RecordAllowance()
        var written = 0
        var paths: Set<String?> = []
        for number in 0..<8 {
            for _ in 0..<3 {
                let records = largestUses(of: longestProgram(number)).records(within: &allowance, at: Self.start).records
                written += try sealedBytes(records).reduce(0, +)
                paths.formUnion(records.map { $0.program.map { String($0.path.suffix(4)) } })
            }
        }
        #expect(paths.count == 8)
        #expect(written <= (Int(KeychainLimits.logUserBurst) + 8) * Self.unitBytes)
        #expect(Int64(written) < KeychainDatabase.logBytesMax * 2 / 3)
    }

    @Test("An ordinary program has 4,000 log records at once, one more every ten seconds, and then short ones with the names of some items")
    func ordinaryProgram() throws {
        let program = AccessProgram(application: "org.example.mail", path: "/usr/bin/mail", throughCommandLine: false, commands: [])
        var allowance = RecordAllowance()
        func written(_ count: Int, items: Int = 1, at now: UInt64) -> [AccessRecord] {
            var uses = PendingUses()
            for number in 0..<count {
                // Different items are used by one process, and one item by different processes.
                let parents = ["/usr/bin/\(items > 1 ? 0 : number)", "/usr/bin/bash", "/usr/lib/systemd/systemd"]
                let identity = [UInt8](repeating: UInt8(number % items), count: 16)
                let item = UsedItem(item: identity, kind: 1, owner: "org.example.mail", name: "mail/anna \(number % items)")
                uses.add(
                    AccessUse(
                        caller: AccessCaller(program, parents: parents), action: .read, outcome: .done, item: item,
                        date: 800_000_000_000_000))
            }
            return uses.records(within: &allowance, at: now).records
        }
        let first = written(4050, at: Self.start)
        #expect(first.count == 4000 && uses(in: first) == 4050)
        #expect(first.dropLast().allSatisfy { $0.items.map(\.count) == [1] && $0.parents.count == 3 })
        let later = Self.start + 2 * KeychainLimits.logInterval
        #expect(written(5, at: later).map { uses(in: [$0]) } == [1, 4])
        let short = written(40, items: 40, at: later)
        #expect(try sealedBytes(short) == [Self.unitBytes] && uses(in: short) == 40)
        let items = try #require(short.first?.items)
        #expect(items.count > 8 && items.last?.isFurther == true && items.dropLast().allSatisfy { !$0.isFurther })
        #expect(short.first?.program == program && short.first?.parents.count == 3)
    }

    @Test("What programs have taken counts until all of it has come back")
    func wholeAllowance() {
        var allowance = RecordAllowance()
        #expect(allowance.isWhole(at: Self.start))
        var uses = PendingUses()
        let item = UsedItem(item: [UInt8](repeating: 1, count: 16), kind: 1, owner: "org.example.mail", name: "mail/anna")
        uses.add(AccessUse(caller: AccessCaller(nil), action: .read, outcome: .done, item: item, date: 800_000_000_000_000))
        #expect(uses.records(within: &allowance, at: Self.start).records.count == 1)
        #expect(!allowance.isWhole(at: Self.start + KeychainLimits.logInterval - 1))
        #expect(allowance.isWhole(at: Self.start + KeychainLimits.logInterval))
    }

    @Test("Having the log written again and again yields no more log records, and loses no use", .timeLimit(.minutes(30)))
    func writtenOften() throws {
        let room = try Room()
        let (mail, shell) = ("/usr/bin/mail", Callers.commandLine())
        func lastNumber() throws -> Int64 { try room.database.lastLogRow()?.number ?? 0 }
        try room.add("anna", as: Callers.installed(mail))
        let count = Int(KeychainLimits.logBurst) + 80
        for number in 0..<count { _ = try room.get("anna", as: Callers.installed(mail, startedBy: ["/usr/bin/\(number)"])) }
        _ = try room.page(as: shell)
        let (before, began) = (try lastNumber(), MachineClock.monotonic)
        for _ in 0..<100 {
            _ = try room.get("anna", as: Callers.installed(mail))
            _ = try room.page(as: shell)
        }
        let seconds = Int64((MachineClock.monotonic - began) / 1_000_000_000)
        // One each second, and one more every ten.
        #expect(try lastNumber() - before <= seconds + seconds / 10 + 3)
        func reads() throws -> Int64 {
            room.userSays(.once)
            return uses(in: try room.log(as: shell, ofAllOwners: true).filter { $0.action == .read })
        }
        while try reads() < Int64(count) + 100 {}
        #expect(try reads() == Int64(count) + 100)
    }
}
