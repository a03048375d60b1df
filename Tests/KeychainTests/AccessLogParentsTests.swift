import EnclaveWire
import Keychain
import Testing
import VaubanDER
import VaubanKeychainWire
import VaubanUserModel

/// What the access log says of the programs that started a program (Specs/access-log.md).
@Suite struct AccessLogParentsTests {
    private static let mail = "/usr/bin/mail"
    private let terminal = ["/usr/bin/bash", "", "/usr/sbin/sshd"]

    /// Returns the log of all owners.
    private func log(_ room: Room) throws -> [AccessRecord] {
        room.userSays(.once)
        return try room.log(as: Callers.commandLine(), ofAllOwners: true)
    }

    @Test("A record has the programs that started the program")
    func parents() throws {
        let room = try Room()
        try room.add("anna", as: Callers.installed(Self.mail, startedBy: terminal))
        try room.add("bert", as: Callers.installed(Self.mail))
        let records = try log(room)
        #expect(records.map(\.parents) == [terminal, []] && Set(records.map(\.program)).count == 1)
    }

    @Test("Equal uses by processes with different parents are in different records, also if these take turns")
    func apart() throws {
        let room = try Room()
        let job = ["/usr/sbin/cron"]
        try room.add("anna", as: Callers.installed(Self.mail))
        for parents in [terminal, job, terminal, job, terminal] {
            _ = try room.get("anna", as: Callers.installed(Self.mail, startedBy: parents))
        }
        let reads = try log(room).filter { $0.action == .read }
        #expect(reads.map(\.parents) == [terminal, job] && reads.flatMap(\.items).map(\.count) == [3, 2])
    }

    @Test("Signatures by processes with different parents are counted together, without parents")
    func keyUses() throws {
        let room = try Room()
        try room.add("anna", as: Callers.installed(Self.mail))
        let use = CountedKeyUse(key: nil, action: .signed, outcome: .done, count: 2)
        func report(_ parents: [[String]]) throws -> AccessRecord? {
            for parents in parents {
                let signer = CallerIdentity(.installed, executable: Callers.executable("/usr/bin/signer"), parents: parents)
                room.accessLogs.receive(KeyUseNotice(user: Room.user, identity: signer, teamIsTrusted: false, uses: [use]))
            }
            return try log(room).last
        }
        let same = try #require(try report([terminal, terminal]))
        #expect(same.parents == terminal && same.action == .signed && same.items.map(\.count) == [4])
        let different = try #require(try report([terminal, ["/usr/sbin/cron"]]))
        #expect(different.parents.isEmpty && different.action == .signed && different.items.map(\.count) == [4])
    }

    @Test("A program gets no more log records by many parents; what is summed up in one names none")
    func allowance() throws {
        let room = try Room()
        try room.add("anna", as: Callers.installed(Self.mail))
        let count = Int(KeychainLimits.logBurst) + 80
        for number in 0..<count { _ = try room.get("anna", as: Callers.installed(Self.mail, startedBy: ["/usr/bin/\(number)"])) }
        let reads = try log(room).filter { $0.action == .read }
        #expect(reads.flatMap(\.items).reduce(0) { $0 + $1.count } == Int64(count))
        // One more comes back every ten seconds.
        #expect(reads.count < count - 10)
        let summed = reads.filter(\.parents.isEmpty)
        #expect(summed.count == 1 && summed.flatMap(\.items).allSatisfy { $0.count > 10 })
        #expect(reads.allSatisfy { $0.parents.isEmpty || $0.parents.count == 1 && $0.items.map(\.count) == [1] })
    }

    /// The longest texts of an identity.
    private static let longest = CallerIdentity(
        .unknown(.interpreter), throughCommandLine: true, executable: Callers.executable("/" + String(repeating: "p", count: 1023)),
        chain: [String](repeating: "/" + String(repeating: "c", count: 1023), count: CallerIdentity.chainMax),
        parents: [String](repeating: "/" + String(repeating: "é", count: 511), count: CallerIdentity.parentsMax))

    @Test("Long paths are cut, and the farthest parents are left out where there are many commands", arguments: [1, 4, 8, 10, 15])
    func longPaths(_ commands: Int) throws {
        let room = try Room()
        let identity = CallerIdentity(
            Self.longest.standing, throughCommandLine: true, executable: Self.longest.executable,
            chain: Array(Self.longest.chain.prefix(commands + 1)), parents: Self.longest.parents)
        try room.add("anna", as: Callers.caller(identity))
        let record = try #require(try log(room).first)
        let all = (record.program?.commands ?? []) + record.parents
        #expect(record.program?.commands.count == commands && record.parents.count == min(8, 16 - commands))
        #expect(all.reduce(0) { $0 + $1.utf8.count } <= AccessRecord.pathsBytesMax)
        #expect(record.parents.allSatisfy { $0.hasPrefix("/é") && $0.hasSuffix("é") && $0.contains("…") })
    }

    @Test("The largest record fits", arguments: [(16, 128, 8, 256), (16, 256, 8, 0), (8, 256, 8, 256), (0, 0, 8, 256)])
    func largest(commands: Int, commandBytes: Int, parents: Int, parentBytes: Int) throws {
        func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }
        let paths = commands * commandBytes + parents * parentBytes
        #expect(paths <= AccessRecord.pathsBytesMax && commands <= AccessProgram.commandsMax && parents <= AccessRecord.parentsMax)
        let program = AccessProgram(
            application: text(AccessProgram.textBytesMax), path: text(AccessProgram.pathBytesMax), throughCommandLine: true,
            commands: [String](repeating: text(commandBytes), count: commands))
        let item = UsedItem(
            item: [UInt8](repeating: 1, count: 16), kind: .max, count: .max, owner: text(UsedItem.textBytesMax),
            name: text(UsedItem.textBytesMax), isCanary: true)
        let record = AccessRecord(
            began: .min, ended: .max, action: .decrypted, outcome: .notApproved, unrecorded: .max, program: program,
            parents: [String](repeating: text(parentBytes), count: parents),
            items: [UsedItem](repeating: item, count: AccessRecord.itemsMax))
        // Its length is sealed with it, and both are padded to a power of two.
        let bytes = try record.encoded()
        #expect(bytes.count + 4 <= KeychainLimits.logRecordBytesMax)
        #expect(try AccessRecord(derBytes: bytes) == record)
    }
}
