import Crypto
import Enclave
import Foundation
import Synchronization
import VaubanSecretBytes

// An enclave's environment for tests. The device's derivations are implemented a second time, from Specs/key-hierarchy.md, so that a change
// of the shipped ones is noticed.

/// Events, in order.
final class Journal: Sendable {
    enum Event: Hashable { case wrote(StateName), failed(StateName), tangled }
    private let list = Mutex<[Event]>([])

    var events: [Event] { list.withLock { $0 } }
    func clear() { list.withLock { $0 = [] } }
    func note(_ event: Event) { list.withLock { $0.append(event) } }
}

/// State files in memory, as `UID/NAME`. A write can be made to fail, and then changes nothing.
final class MemoryStore: StateStore {
    private struct Content {
        var files: [String: [UInt8]]
        var failing: [StateName: StateError] = [:]
        var passes: [StateName: Int] = [:]
        var readFault: StateError?
    }

    private let content: Mutex<Content>
    private let journal: Journal

    init(_ files: [String: [UInt8]], _ journal: Journal) {
        content = Mutex(Content(files: files))
        self.journal = journal
    }

    var files: [String: [UInt8]] {
        get { content.withLock { $0.files } }
        set { content.withLock { $0.files = newValue } }
    }

    /// Makes writes of this file fail from now on, after `passes` that succeed; nil ends the failures.
    func fail(_ name: StateName, with fault: StateError?, after passes: Int = 0) {
        content.withLock {
            $0.failing[name] = fault
            $0.passes[name] = passes
        }
    }

    func failReading(with fault: StateError?) { content.withLock { $0.readFault = fault } }

    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]? {
        try content.withLock { (content) throws(StateError) -> [UInt8]? in
            if let fault = content.readFault { throw fault }
            return content.files["\(user)/\(name.rawValue)"]
        }
    }

    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError) {
        try content.withLock { (content) throws(StateError) in
            if let fault = content.failing[name] {
                let passes = content.passes[name, default: 0]
                content.passes[name] = passes - 1
                if passes <= 0 {
                    journal.note(.failed(name))
                    throw fault
                }
            }
            content.files["\(user)/\(name.rawValue)"] = bytes
            journal.note(.wrote(name))
        }
    }

    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String {
        content.withLock { content in
            var number = 1
            while content.files["\(user)/\(name.rawValue).quarantined-\(number)"] != nil { number += 1 }
            let aside = "\(name.rawValue).quarantined-\(number)"
            content.files["\(user)/\(aside)"] = content.files.removeValue(forKey: "\(user)/\(name.rawValue)")
            return aside
        }
    }

    func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String] {
        let folder = "\(user)/"
        let prefix = "\(folder)\(name.rawValue).quarantined-"
        return files.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(folder.count)) }.sorted()
    }
}

final class ManualClock: EnclaveClock {
    private let times = Mutex<(boot: UInt64, asleep: UInt64, wall: Int64)>((1_000_000_000_000, 0, 0))

    var boot: UInt64 { times.withLock { $0.boot } }
    var monotonic: UInt64 { times.withLock { $0.boot - $0.asleep } }
    var referenceMicroseconds: Int64 { times.withLock { $0.wall } }

    func advance(seconds: UInt64) { times.withLock { $0.boot += seconds * 1_000_000_000 } }
    func suspend(seconds: UInt64) {
        times.withLock { times in
            times.boot += seconds * 1_000_000_000
            times.asleep += seconds * 1_000_000_000
        }
    }
    /// Restarts the machine: its clock begins at zero.
    func reboot() { times.withLock { ($0.boot, $0.asleep) = (0, 0) } }
    func setWall(microseconds: Int64) { times.withLock { $0.wall = microseconds } }
}

final class MemoryDevice: EnclaveBackend {
    private let secret: [UInt8]
    private let journal: Journal

    init(secret: [UInt8], _ journal: Journal = Journal()) {
        self.secret = secret
        self.journal = journal
    }

    convenience init(_ seed: UInt8, _ journal: Journal = Journal()) { self.init(secret: [UInt8](repeating: seed, count: 32), journal) }

    var deviceIdentifier: [UInt8] { Array(derive("vauban device identifier v1", []).prefix(16)) }

    func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes { SecretBytes(copying: derive(label, context)) }

    func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes {
        journal.note(.tangled)
        let key = SymmetricKey(data: derive(label, context))
        return SecretBytes(copying: Array(HMAC<SHA256>.authenticationCode(for: bytes(input), using: key)))
    }

    private func derive(_ label: String, _ context: [UInt8]) -> [UInt8] {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: secret), info: Array(label.utf8) + [0] + context, outputByteCount: 32)
            .withUnsafeBytes { Array($0) }
    }
}
