import Enclave
import Synchronization
import VaubanSecretBytes

// A deterministic machine: its device secret, its clock and its files are known.

struct FuzzDevice: EnclaveBackend {
    var deviceIdentifier: [UInt8] { key("vauban device identifier v1", []).withUnsafeBytes { Array($0.prefix(16)) } }

    func deviceKey(label: String, context: [UInt8]) throws(BackendError) -> SecretBytes { key(label, context) }

    func tangle(_ input: borrowing SecretBytes, label: String, context: [UInt8]) throws(BackendError) -> SecretBytes {
        let bytes = input.withUnsafeBytes { Array($0) }
        return SecretBytes(copying: KeyWrap.authenticationCode(of: bytes, under: key(label, context)))
    }

    private func key(_ label: String, _ context: [UInt8]) -> SecretBytes {
        KeyWrap.derive(from: SecretBytes(copying: Array(repeating: 0x5A, count: 32)), label: label, context: context)
    }
}

final class FuzzStore: StateStore {
    private let content: Mutex<[String: [UInt8]]>

    init(_ files: [StateName: [UInt8]]) { content = Mutex(Dictionary(uniqueKeysWithValues: files.map { ($0.rawValue, $1) })) }

    var files: [String: [UInt8]] { content.withLock { $0 } }

    func read(_ name: StateName, of user: UInt32, max: Int) throws(StateError) -> [UInt8]? {
        guard let bytes = files[name.rawValue] else { return nil }
        guard bytes.count <= max else { throw .failed("the file is too large") }
        return bytes
    }

    func replace(_ name: StateName, of user: UInt32, with bytes: [UInt8]) throws(StateError) {
        content.withLock { $0[name.rawValue] = bytes }
    }

    func quarantine(_ name: StateName, of user: UInt32) throws(StateError) -> String {
        content.withLock { files in
            let aside = "\(name.rawValue).quarantined-\(files.count)"
            files[aside] = files.removeValue(forKey: name.rawValue)
            return aside
        }
    }

    func quarantined(_ name: StateName, of user: UInt32) throws(StateError) -> [String] {
        files.keys.filter { $0.hasPrefix("\(name.rawValue).quarantined-") }.sorted()
    }
}

final class FuzzClock: EnclaveClock {
    private let now = Mutex<UInt64>(1_000_000_000_000_000)

    var boot: UInt64 { now.withLock { $0 } }
    var monotonic: UInt64 { boot }
    var referenceMicroseconds: Int64 { 0 }
    func advance(seconds: UInt64) { now.withLock { $0 += seconds * 1_000_000_000 } }
}

/// One device with one user.
struct FuzzMachine {
    static let user: UInt32 = 1000
    static let passcode = Array("correct horse".utf8)

    let store: FuzzStore
    let clock = FuzzClock()
    let host: EnclaveHost

    init(_ files: [StateName: [UInt8]]) {
        store = FuzzStore(files)
        host = EnclaveHost(
            backend: FuzzDevice(), store: store, clock: clock, stretcher: PasscodeStretcher(StretchCost(log2Rounds: 4, blockSizeMin: 1)))
    }

    func start() -> Vault { Vault(user: Self.user, host: host) }
}
