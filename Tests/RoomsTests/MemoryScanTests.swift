// After a lock, no locked key or secret is in a room's memory; before it, each is where it belongs and nowhere else. The keys are computed
// from the files, the passcode and the specification.

import Enclave
import EnclaveBook
import Foundation
import Glibc
import KeychainStore
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanUserModel

@Suite("What memory holds", .serialized)
struct MemoryScanTests {
    static let passcode = "Zq7 to be found nowhere 8675309"

    /// Every secret of a user, by name.
    private struct Secrets {
        var classA: [Needle] = []
        var classC: [Needle] = []
        var metadataA: [Needle] = []
        var factors: [Needle] = []
        var items: [Needle] = []
        var values: [Needle] = []
        var passcode: [Needle] = []
        var device: [Needle] = []

        init(of rooms: Rooms, passcode text: String, values: [String]) throws {
            let state = try rooms.state
            let bag = try rooms.keybag()
            let (stretched, key) = try state.passcodeKey(text, of: bag)
            let keys = try state.keys(of: bag, passcodeKey: key)
            for (slot, key) in keys {
                let name = "\(slot.purpose) \(slot.generation[0])"
                switch slot.purpose.availability {
                case .unlocked:
                    classA.append(Needle(name: "class key of \(name)", bytes: key))
                    metadataA.append(Needle(name: "metadata key of \(name)", bytes: ByTheBook.hkdf(key, label: "vauban metadata key v1")))
                case .firstUnlock: classC.append(Needle(name: "class key of \(name)", bytes: key))
                case .always: break
                case nil: factors.append(Needle(name: "private half of \(name)", bytes: key))
                }
            }
            for row in try rooms.rows() {
                let read = try RowByTheBook(binding: row.halves.secretBinding, wrapped: row.halves.wrappedKey)
                guard read.protection.availability == .unlocked else { continue }
                items.append(Needle(name: "item key of row \(row.id)", bytes: try read.itemKey(with: keys)))
            }
            self.values = values.map { Needle(name: "value \($0)", bytes: Array($0.utf8)) }
            passcode = [
                Needle(name: "passcode", bytes: Array(text.utf8)), Needle(name: "stretched passcode", bytes: stretched),
                Needle(name: "passcode key", bytes: key),
            ]
            device = [Needle(name: "device secret", bytes: state.deviceSecret)]
        }

        /// What must be nowhere after a lock.
        var locked: [Needle] { classA + metadataA + factors + items + values + passcode }
        var all: [Needle] { locked + classC + device }
        /// An index key is leased unwrapped.
        var neverLent: [Needle] { classA + classC.filter { !$0.isLent } + factors + items + passcode + device }
    }

    private static let values = [
        "value of class A 1Zq7", "value of the passcode class 9Lm2", "value that asks 4Tr8", "value that asks twice 6Wd3",
    ]

    /// Rooms whose secrets are in ordinary pages, so that root can read them: without CAP_IPC_LOCK and with no locked memory allowed, no
    /// room has memfd_secret.
    func readableRooms() throws -> Rooms {
        try Self.throwIfNotRoot()
        guard access("/usr/bin/setpriv", X_OK) == 0, access("/usr/bin/prlimit", X_OK) == 0 else {
            try Test.cancel("there is no setpriv or prlimit here")
        }
        return try Rooms(through: [
            "/usr/bin/prlimit", "--memlock=0", "/usr/bin/setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock",
        ])
    }

    private static func throwIfNotRoot() throws {
        if geteuid() != 0 { try Test.cancel("only root can read another process's memory") }
    }

    /// Uses everything once: items of the classes, items guarded by the passcode, searches, a wrong passcode, a change.
    private func use(_ rooms: Rooms) throws {
        try rooms.add("s", "a", Self.values[0])
        try rooms.add("s", "p", Self.values[1], .whenPasscodeSetThisDeviceOnly)
        try rooms.add("s", "g", Self.values[2], control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        try rooms.add(
            "s", "d", Self.values[3], control: try AccessControl(protection: .whenPasscodeSetThisDeviceOnly, flags: .devicePasscode))
        try rooms.add("s", "c", "value of class C", .afterFirstUnlock)
        let user = try rooms.user([.passcode(Self.passcode), .passcode(Self.passcode)])
        defer { user.leave() }
        for (account, value) in [("a", 0), ("p", 1), ("g", 2), ("d", 3)] { #expect(try rooms.read("s", account) == Self.values[value]) }
        var all = Rooms.query("s", "a")
        all.attributes = .init([.service: .text("s")])
        all.limit = .all
        all.returns.insert(.attributes)
        // A search that only describes protected items does not prompt again.
        all.authenticationUI = .describe
        #expect(try rooms.keychain.copyMatching(all).count == 5)
    }

    func report(_ room: String, _ scan: MemoryScan) {
        print(
            """
            memory of \(room): \(scan.bytes >> 20) MiB read, \(scan.closed.count) mappings closed (\(scan.closed)), found: \
            \(scan.names.sorted())
            """
        )
    }

    @Test("A lock leaves no secret in the memory of any room", .proves("C-035", "C-054"), .provesEquivalent("C-038", "C-039", "C-040"))
    func lockLeavesNoSecretInMemory() throws {
        let rooms = try readableRooms()
        try rooms.setPasscode(Self.passcode)
        try use(rooms)
        try rooms.authentication.lock()
        try rooms.unlock(Self.passcode)
        #expect(try rooms.read("s", "a") == Self.values[0])
        let secrets = try Secrets(of: rooms, passcode: Self.passcode, values: Self.values)
        #expect(secrets.classA.count >= 3 && secrets.items.count == 4)
        // And the key that wraps those of the access log.
        #expect(secrets.factors.count { !$0.name.contains("privateKeys") } == 6)
        let enclave = try rooms.process(of: "enclaved")
        let database = try rooms.process(of: "keychaind")

        // The scan works: what must be there is found, each where it belongs and nowhere else.
        let open = try scan(enclave, secrets.all)
        report("enclaved, unlocked", open)
        let newest = try #require(try rooms.keybag().current(.protection(.whenUnlocked)))
        #expect(open.names.contains("class key of \(newest.purpose) \(newest.generation[0])"))
        #expect(open.names.isSuperset(of: secrets.device.map(\.name)))
        for (needle, place) in open.onStacks { Issue.record("enclaved, unlocked: \(needle), \(place)") }
        let lent = try scan(database, secrets.all)
        report("keychaind, unlocked", lent)
        #expect(lent.names.contains("metadata key of \(newest.purpose) \(newest.generation[0])"))
        #expect(lent.names.isDisjoint(with: secrets.neverLent.map(\.name)), "\(lent.names)")

        try rooms.authentication.lock()
        let locked = try scan(enclave, secrets.all)
        report("enclaved, locked", locked)
        for (needle, place) in locked.found where secrets.locked.contains(where: { $0.name == needle }) {
            Issue.record("enclaved: \(needle), \(place)")
        }
        // Class C stays, as it must, and shows that the scan finds keys.
        #expect(!locked.names.isDisjoint(with: secrets.classC.map(\.name)))
        let given = try scan(database, secrets.all)
        report("keychaind, locked", given)
        for (needle, place) in given.found where secrets.locked.contains(where: { $0.name == needle }) {
            Issue.record("keychaind: \(needle), \(place)")
        }
        for room in ["authd", "vauban-witness", "vauban-watcher"] {
            let other = try scan(try rooms.process(of: room), secrets.all)
            report(room, other)
            for (needle, place) in other.found { Issue.record("\(room): \(needle), \(place)") }
        }
        try Self.expectSentences([
            "The enclave here is a process, not a coprocessor: a compromised kernel reads its memory",
            "the device secret is a file of the enclave's user and in the enclave's memory only",
            "after a lock no class-A key, metadata key of class A, item key, factor key or passcode is in the memory of any room",
        ])
    }

    /// With unlocking by fingerprint: class-A keys exist only under the key that the reader holds; the private keys of the fingerprint
    /// factors stay.
    @Test("With unlocking by fingerprint, a lock leaves no class key in the clear")
    func withFingerprintUnlockNoClassKeyIsInTheClear() throws {
        let rooms = try readableRooms()
        try rooms.setPasscode(Self.passcode)
        let reader = try rooms.reader()
        try rooms.enroll(reader, unlocks: true, Self.passcode)
        try use(rooms)
        let secrets = try Secrets(of: rooms, passcode: Self.passcode, values: Self.values)
        try rooms.authentication.lock()
        try awaitTrue("the reader holding") { reader.held[geteuid()] != nil }
        let held = Needle(name: "what the reader holds", bytes: try #require(reader.held[geteuid()]))
        let enclave = try rooms.process(of: "enclaved")
        let scanned = try scan(enclave, secrets.all + [held])
        report("enclaved, locked, a finger unlocks", scanned)
        let armed = Set(secrets.factors.map(\.name).filter { !$0.contains("passcodeFactor") })
        for (needle, place) in scanned.found where secrets.locked.contains(where: { $0.name == needle }) && !armed.contains(needle) {
            Issue.record("enclaved: \(needle), \(place)")
        }
        #expect(!scanned.names.contains(held.name))
        #expect(!scanned.names.isDisjoint(with: armed))
        try Self.expectSentences(["the private halves that a finger opens stay in the enclave's memory after a lock"])
        // The fingerprint restores the keys, so they were there, under the reader's key.
        reader.expect(.match)
        try rooms.authentication.unlockByFinger()
        #expect(try rooms.read("s", "a") == Self.values[0])
    }

    /// An evaluated policy is only a statement from the system to the application: the process that prompts keeps nothing of it, in memory
    /// or in a file, and the application gets nothing that opens an item.
    @Test("An evaluation keeps no secret, and gives the application nothing that opens an item", .proves("C-114"))
    func evaluationKeepsNoSecretAndOpensNoItem() throws {
        let rooms = try readableRooms()
        try rooms.setPasscode(Self.passcode)
        try rooms.add("s", "g", Self.values[2], control: try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        let user = try rooms.user([.passcode(Self.passcode), .cancel])
        defer { user.leave() }
        let authorization = try rooms.authentication.evaluate(Evaluation(.policy(.biometryOrPasscode), reason: "open the settings"))
        let authd = try rooms.process(of: "authd")
        let scanned = try scan(authd, Secrets(of: rooms, passcode: Self.passcode, values: Self.values).all)
        report("authd, evaluated", scanned)
        #expect(scanned.bytes > 1 << 20)
        for (needle, place) in scanned.found { Issue.record("authd: \(needle), \(place)") }
        let folder = "/proc/\(authd)/fd"
        let open = try FileManager.default.contentsOfDirectory(atPath: folder)
            .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
        #expect(!open.isEmpty)
        let files = open.filter { $0.hasPrefix(rooms.home) && !$0.hasSuffix("/vauban.log") }
        #expect(files.isEmpty, "\(files)")
        // The item itself requires the user, who cancels this time.
        #expect(refusal { _ = try rooms.read("s", "g") } == .cancelled)
        #expect(user.requests.map(\.operation) == [.evaluatePolicy, .readItem])
        authorization.end()
    }

    /// With memfd_secret not even root finds an open key.
    @Test("With `memfd_secret`, not even root finds a key that is open") func withSecretMemoryRootFindsNoKeyWhileItIsOpen() throws {
        try Self.throwIfNotRoot()
        if SecretArena().missing.contains(.memfdSecret) { try Test.cancel("this kernel has no memfd_secret") }
        let rooms = try Rooms()
        try rooms.setPasscode(Self.passcode)
        try use(rooms)
        let secrets = try Secrets(of: rooms, passcode: Self.passcode, values: Self.values)
        for room in ["enclaved", "keychaind"] {
            let scanned = try scan(try rooms.process(of: room), secrets.all)
            report("\(room), unlocked, secret memory", scanned)
            #expect(!scanned.closed.isEmpty)
            for (needle, place) in scanned.found { Issue.record("\(room): \(needle), \(place)") }
        }
    }

    /// Scans a process once all of its threads wait, as those of an idle room do.
    func scan(_ process: pid_t, _ needles: [Needle]) throws -> MemoryScan {
        try awaitTrue("the room at rest") {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").allSatisfy { thread in
                SmallFile.text(path: "/proc/\(process)/task/\(thread)/stat", max: 4096)?.split(separator: ")").last?.first { $0 != " " }
                    == "S"
            }
        }
        return try MemoryScan(of: process, for: needles)
    }

    /// Expects these sentences in SECURITY.md, which the scan has confirmed.
    static func expectSentences(_ sentences: [String]) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("SECURITY.md"), encoding: .utf8)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for sentence in sentences { #expect(text.contains(sentence), "SECURITY.md does not say: \(sentence)") }
    }
}

extension Rooms {
    /// Returns the rows of this user on disk, from a copy of the database.
    func rows() throws -> [StoredRow] {
        let copy = "\(home)/copy-of-rows"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: "\(home)/keychain/\(geteuid())", toPath: copy)
        let database = try KeychainDatabase(folder: try PrivateFolder(path: copy, creating: false))
        return try database.rows(
            of: RowSelection(kind: 1, protection: nil, lookup: nil, filter: [], usesDeviceIndex: false), after: 0, count: 1000,
            bytesMax: 1 << 20)
    }
}
