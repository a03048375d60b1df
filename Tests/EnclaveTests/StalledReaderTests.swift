import Crypto
import Dispatch
import Enclave
import EnclaveRoom
import EnclaveWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import VaubanDER
import VaubanLinuxHost
import VaubanSecretBytes

/// The fingerprint reader has one connection for all users, so a disk that does not answer for one of them must not stop it.
@Suite struct StalledReaderTests {
    private let bench = Workbench()
    private static let stalled: UInt32 = 1
    private static let other: UInt32 = 2

    @Test("While one user's keybag is being written, another user's changed fingers take effect", arguments: [true, false])
    func stalledKeybagHoldsUpNoOtherFingers(_ isLoaded: Bool) throws {
        for user in [Self.stalled, Self.other] {
            let (vault, _) = bench.startAtReader(user)
            try vault.setPasscode(secret(Workbench.passcode))
            try vault.enroll(fingers: Sample.fingers, unlocks: false, passcodeKey: vault.authenticate(secret(Workbench.passcode)))
        }
        let (stalledWrite, otherWrite) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let store = StallingStore(bench.store, of: Self.stalled) { name, user in
            guard name == .keybag else { return }
            (user == Self.stalled ? stalledWrite : otherWrite).signal()
        }
        let reader = try ReportingReader(bench, store)
        // A report of the enrolled list reads the vault and changes nothing, so that the next one stalls at the write, not at the read.
        if isLoaded { try reader.reportChange(of: Self.stalled, to: Sample.fingers) }
        store.stall()
        try reader.reportChange(of: Self.stalled, to: Sample.otherFingers)
        store.waitUntilStalled()
        try reader.reportChange(of: Self.other, to: Sample.otherFingers)
        #expect(otherWrite.wait(timeout: .now() + HangLimit.seconds) == .success)
        #expect(try bench.keybag(of: Self.other).enrollment == nil)
        #expect(try bench.keybag(of: Self.stalled).enrollment != nil)
        store.release()
        #expect(stalledWrite.wait(timeout: .now() + HangLimit.seconds) == .success)
        #expect(try bench.keybag(of: Self.stalled).enrollment == nil)
    }

    @Test("A stalled user's reports take effect in their order, and repeated lists are not kept")
    func reportsOfAUserKeepTheirOrder() {
        let steps = Mutex<[String]>([])
        let (begun, mayContinue, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let lists = FingerListUpdates { user, fingers in
            if fingers == [0] {
                begun.signal()
                mayContinue.wait()
            }
            steps.withLock { $0.append("list \(fingers) of \(user)") }
        }
        lists.add([0], of: Self.stalled)
        begun.wait()
        for number: UInt8 in [1, 1, 2, 3, 1] { lists.add([number], of: Self.stalled) }
        lists.afterUpdates(of: Self.stalled) {
            steps.withLock { $0.append("verdict of 1") }
            done.signal()
        }
        lists.afterUpdates(of: Self.other) { steps.withLock { $0.append("verdict of 2") } }
        mayContinue.signal()
        done.wait()
        #expect(steps.withLock { $0 } == ["verdict of 2", "list [0] of 1", "list [1] of 1", "list [2] of 1", "verdict of 1"])
    }

    @Test("Changed lists of many users share a few threads, and all take effect")
    func changesOfManyUsersAreAllApplied() {
        let applied = Mutex<Set<UInt32>>([])
        let all = DispatchGroup()
        let lists = FingerListUpdates(usersMax: 2) { user, _ in
            applied.withLock { _ = $0.insert(user) }
            all.leave()
        }
        for user: UInt32 in 0..<100 {
            all.enter()
            lists.add([1], of: user)
        }
        all.wait()
        #expect(applied.withLock { $0.count } == 100)
    }
}

/// A reader at the socket of an enclave in this process, paired and with a sensor. It reports changes and answers nothing.
private final class ReportingReader {
    private let folder: PrivateFolder
    private let channel: Channel
    private let key: SymmetricKey

    init(_ bench: Workbench, _ store: StallingStore) throws {
        var template = Array("/tmp/vauban-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a folder", code: errno) }
        folder = try PrivateFolder(
            path: String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), creating: false)
        let host = EnclaveHost(
            backend: bench.device, store: store, clock: bench.clock,
            stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)))
        let room = try EnclaveRoom(host: host, peers: try RoomPeers())
        let listener = try folder.bindSocket("enclave", mode: 0o600)
        Thread.detachNewThread { try? room.run(listener: listener) }
        let address = ServerAddress(folder: folder.path, socket: "enclave", serverUID: geteuid())
        channel = try address.connect(role: EnclaveRole.reader.rawValue, within: HangLimit.nanoseconds)
        try channel.send(header: try ReaderReport.hello(isPaired: false).encoded())
        var pairing = try channel.receive(.after(HangLimit.nanoseconds))
        guard let secret = pairing.takeSecret() else { throw ChannelError.closed }
        key = secret.withUnsafeBytes { SymmetricKey(data: $0) }
        try channel.send(header: try ReaderReport.sensor(isPresent: true).encoded())
    }

    deinit { try? FileManager.default.removeItem(atPath: folder.path) }

    func reportChange(of user: UInt32, to fingers: [UInt8]) throws {
        let nonce = [UInt8](repeating: 0, count: 32)
        let plain = ReaderVerdict(outcome: .changed, user: user, nonce: nonce, fingers: fingers)
        let code = Array(HMAC<SHA256>.authenticationCode(for: plain.covered, using: key))
        let verdict = ReaderVerdict(outcome: .changed, user: user, nonce: nonce, fingers: fingers, code: code)
        try channel.send(header: try ReaderReport.verdict(verdict).encoded())
    }
}
