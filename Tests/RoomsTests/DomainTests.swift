// The processes that hold secrets and those that decide: the caller, keychaind and the enclave as separate domains.

import Enclave
import EnclaveBook
import EnclaveWire
import Foundation
import Glibc
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanDER
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel
import VaubanUserWire

@Suite("Domains")
struct DomainTests {
    /// Each process of the path is needed, and the caller's own process has no other path.
    @Test("A caller reaches its item only through keychaind and the enclave", .proves("C-034", "C-037"), .provesEquivalent("C-045"))
    func theCallerReachesItsItemOnlyThroughBothRooms() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        try rooms.add("s", "a", "through the rooms")
        #expect(try rooms.read("s", "a") == "through the rooms")
        // This process has none of the files open, and maps none.
        for entry in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(entry)") else { continue }
            for folder in ["keychain", "enclave"] { #expect(!target.hasPrefix("\(rooms.home)/\(folder)"), "\(target)") }
        }
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        #expect(!maps.contains("\(rooms.home)/"))
        // Three distinct processes.
        let processes = try ["enclaved", "keychaind", "authd"].map { try rooms.process(of: $0) }
        #expect(Set(processes + [getpid()]).count == 4)
        // Without either of them nothing is returned.
        for room in ["keychaind", "enclaved"] {
            let process = try rooms.process(of: room)
            try rooms.stop(process)
            var query = Rooms.query("s", "a")
            query.returns.insert(.data)
            #expect(refusal { _ = try rooms.keychain.copyMatching(query) } == .unavailable, "\(room)")
            kill(process, SIGCONT)
            try awaitTrue("the flow again") { try rooms.read("s", "a") == "through the rooms" }
        }
        try MemoryScanTests.expectSentences([
            "The enclave here is a process, not a coprocessor", "Unix sockets with kernel credentials take the driver's place",
        ])
    }

    @Test("Every installation has a device secret of its own", .provesEquivalent("C-041"))
    func secretsOfInstallationsDiffer() throws {
        let one = try Rooms()
        let other = try Rooms()
        for rooms in [one, other] { try rooms.add("s", "a", "makes the state") }
        let secrets = try [one, other].map { try $0.state.deviceSecret }
        #expect(secrets.allSatisfy { $0.count == 32 && Set($0).count > 8 })
        #expect(secrets[0] != secrets[1])
        #expect(try one.keybag().device != other.keybag().device)
        // Only its own user can read it, and it is the same after a restart.
        var information = stat()
        #expect(stat("\(one.home)/enclave/device-secret", &information) == 0)
        #expect(information.st_mode & 0o077 == 0 && information.st_uid == geteuid())
        try one.killAndAwait("enclaved")
        #expect(try one.state.deviceSecret == secrets[0])
        try awaitTrue("the item") { try one.read("s", "a") == "makes the state" }
        try MemoryScanTests.expectSentences(["There is one device secret per installation, made on first use, not fused into a chip"])
    }

    /// A match goes from the reader's socket to the key inside the enclave; no other process sees or can forge it.
    @Test("A match authorizes a key inside the enclave, and no other process can forge it", .provesEquivalent("C-038", "C-046"))
    func aMatchAuthorizesAKeyWithinTheEnclave() throws {
        let known = try RoomsWithFinger()
        let (rooms, reader) = (known.rooms, known.reader)
        try rooms.addGuarded("any", .biometryAny)
        let user = try rooms.user([.silence])
        defer { user.leave() }
        reader.expect(.match)
        #expect(try rooms.read("s", "any") == "guarded")
        // The agent saw only a prompt and its end; the match itself used the reader's paired connection.
        try awaitTrue("the end of the prompt") { user.outcomes == [.accepted] }
        #expect(reader.reported.filter { $0.outcome == .matched }.count == 1)
        try MemoryScanTests.expectSentences(["a match counts only over the reader's own paired connection", "decides on every match"])
    }

    /// This test is a compromised keychaind: it uses the enclave's socket with a caller's connection.
    @Test("A compromised keychaind gets no key that needs the user", .proves("C-077"))
    func compromisedKeychaindGetsNoKey() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        let line = try FalseDatabase(rooms)
        let guarded = try line.row(try AccessControl(protection: .whenUnlocked, flags: .userPresence))
        guard case .sealed(let wrapped) = try line.ask(.seal(guarded)) else { Issue.record("not sealed"); return }
        // The row as it is: the enclave itself prompts, and there is no agent.
        #expect(try line.refusal(.open(guarded, wrapped: wrapped, reason: nil, mayPrompt: true)) == .noPromptAgent)
        #expect(try line.refusal(.open(guarded, wrapped: wrapped, reason: nil, mayPrompt: false)) == .interactionNotAllowed)
        // The row without its control, with a weaker one, of another class, group, item, kind or user.
        let weaker = try AccessControl(protection: .whenUnlocked, flags: [])
        let lies = [
            try line.row(nil), try line.row(weaker), try line.row(try AccessControl(protection: .whenUnlocked, flags: .devicePasscode)),
            try line.row(guarded.accessControl, group: "another"), try line.row(guarded.accessControl, item: 9),
            try line.row(nil, protection: .always),
        ]
        for lie in lies {
            #expect(try line.refusal(.open(lie, wrapped: wrapped, reason: nil, mayPrompt: true)) == .rowDamaged, "\(lie)")
        }
        // Rewrapping the row does not help, nor do requests that only the other room may make.
        if case .sealed(let again) = try line.ask(.rewrap(guarded, wrapped: wrapped, generation: guarded.generation)) {
            #expect(try line.refusal(.open(guarded, wrapped: again, reason: nil, mayPrompt: true)) == .noPromptAgent)
        }
        #expect(try line.refusal(.user(.unlockByFinger)) == .notAllowedHere)
        // While locked, not even a plain row opens, for any caller.
        let plain = try line.row(nil)
        guard case .sealed(let key) = try line.ask(.seal(plain)) else { Issue.record("not sealed"); return }
        guard case .opened = try line.ask(.open(plain, wrapped: key, reason: nil, mayPrompt: true)) else {
            Issue.record("not opened"); return
        }
        try rooms.authentication.lock()
        #expect(try line.refusal(.open(plain, wrapped: key, reason: nil, mayPrompt: true)) == .locked)
    }
}

/// Plays keychaind at the enclave's socket, on behalf of this process.
private final class FalseDatabase {
    private let channel: Channel
    private let generation: [ProtectionClass: [UInt8]]

    init(_ rooms: Rooms) throws {
        _ = try rooms.authentication.status()
        let bag = try rooms.keybag()
        generation = Dictionary(
            uniqueKeysWithValues: ProtectionClass.allCases.compactMap { protection in
                bag.current(.protection(protection)).map { (protection, $0.generation) }
            })
        let address = ServerAddress(folder: rooms.service.sockets, socket: "enclave", serverUID: rooms.service.enclaveUID)
        channel = try address.connect(role: EnclaveRole.keychain.rawValue, within: HangLimit.nanoseconds)
        var ends: [Int32] = [0, 0]
        try SystemError.check(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends), "make a pair of sockets")
        let caller = [Descriptor(ends[0]), try ProcessDescriptor.ofSelf()]
        _ = Descriptor(ends[1])
        try channel.send(header: try EnclaveRequest.registerCaller(name: nil).encoded(), descriptors: caller)
        guard case .caller(geteuid(), Int64(getpid())) = try reply() else { throw SystemError("be registered", code: EPERM) }
    }

    func row(
        _ control: AccessControl?, protection: ProtectionClass = .whenUnlocked, group: String = "unsigned", item: UInt8 = 1
    ) throws -> RowBinding {
        RowBinding(
            user: geteuid(), protection: protection, generation: try #require(generation[protection]),
            item: [UInt8](repeating: item, count: 16),
            version: [UInt8](repeating: 2, count: 16), kind: 1, accessGroup: group, accessControl: control)
    }

    func ask(_ request: EnclaveRequest) throws -> EnclaveReply {
        try channel.send(header: try request.encoded())
        return try reply()
    }

    func refusal(_ request: EnclaveRequest) throws -> Refusal.Reason? {
        if case .refused(let refusal) = try ask(request) { return refusal.reason }
        return nil
    }

    private func reply() throws -> EnclaveReply { try EnclaveReply(derBytes: try channel.receive(.after(HangLimit.nanoseconds)).header) }
}
