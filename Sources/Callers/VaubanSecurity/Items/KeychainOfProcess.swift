internal import Synchronization
internal import VaubanKeychainClient
internal import VaubanLinuxHost
internal import VaubanRefusal

/// The keychain's door.
enum Keychain {
    private static let ofProcess = ClientOfProcess { KeychainClient(service: $0) }
    static func client() throws(Refusal) -> KeychainClient { try ofProcess.client() }
}

/// The lines on which private keys of the enclave are used.
enum EnclaveKeys {
    private static let ofProcess = ClientOfProcess { KeyClient(service: $0) }
    static func client() throws(Refusal) -> KeyClient { try ofProcess.client() }
}

/// A client of this process: one for as long as the environment names the same service.
private final class ClientOfProcess<Client: Sendable>: Sendable {
    private let current = Mutex<(environment: ServiceEnvironment, client: Client)?>(nil)
    private let make: @Sendable (Service) -> Client

    init(_ make: @escaping @Sendable (Service) -> Client) { self.make = make }

    func client() throws(Refusal) -> Client {
        let environment = ServiceEnvironment.ofThisProcess
        if let known = current.withLock({ $0 }), known.environment == environment { return known.client }
        let client = make(try Service.current())
        current.withLock { $0 = (environment, client) }
        return client
    }
}

/// Why the last call of this thread was refused, in words. Statuses are few and reasons are many: -25308 is a locked
/// keychain as well as a prompt that nobody can see.
enum LastRefusal {
    private static let key = "app.vauban.last-refusal"

    static func set(_ refusal: Refusal) { set(refusal.status, refusal.message) }
    static func set(_ status: OSStatus, _ message: String) { Thread.current.threadDictionary[key] = Words(status, message) }

    static func message(for status: OSStatus) -> String? {
        guard let words = Thread.current.threadDictionary[key] as? Words, words.status == status else { return nil }
        return words.message
    }

    private final class Words {
        let status: OSStatus
        let message: String
        init(_ status: OSStatus, _ message: String) {
            self.status = status
            self.message = message
        }
    }
}

/// A sentence for a status: Apple's `SecCopyErrorMessageString`. Where the status is the one that this thread's last
/// call ended with, the sentence says why it did and what to do; of a number that is none of Apple's statuses it is `OSStatus N`.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    NSString(string: LastRefusal.message(for: status) ?? staticMessage(for: status) ?? "OSStatus \(status)")
}
