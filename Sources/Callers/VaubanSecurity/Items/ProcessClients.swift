internal import VaubanKeychainClient
internal import VaubanLinuxHost
internal import VaubanRefusal

/// This process's connections to keychaind.
enum KeychainConnections {
    private static let shared = ProcessClient { KeychainClient(service: $0) }
    static func client() throws(Refusal) -> KeychainClient { try shared.client() }
}

/// This process's connections for private keys of the enclave.
enum KeyConnections {
    private static let shared = ProcessClient { KeyClient(service: $0) }
    static func client() throws(Refusal) -> KeyClient { try shared.client() }
}

/// A client of this process, kept while the environment names the same service.
private final class ProcessClient<Client: Sendable>: Sendable {
    private struct Known {
        let variables: ServiceVariables
        let environment: ServiceEnvironment
        let client: Client
    }

    private let current = ThreadMutex<Known?>(nil)
    private let make: @Sendable (Service) -> Client

    init(_ make: @escaping @Sendable (Service) -> Client) { self.make = make }

    func client() throws(Refusal) -> Client {
        let known = current.withLock { $0 }
        if let known, known.variables.areCurrent { return known.client }
        let variables = ServiceVariables.ofThisProcess
        let environment = ServiceEnvironment.ofThisProcess
        let client = if let known, known.environment == environment { known.client } else { make(try Service.current()) }
        current.withLock { $0 = Known(variables: variables, environment: environment, client: client) }
        return client
    }
}

/// The message of this thread's last refusal. There are few statuses and many reasons: -25308 is a locked keychain as well as a prompt that
/// cannot be shown.
enum LastRefusal {
    private static let key = "app.vauban.last-refusal"

    static func set(_ refusal: Refusal) { set(refusal.status, refusal.message) }
    static func set(_ status: OSStatus, _ message: String) { Thread.current.threadDictionary[key] = RefusalMessage(status, message) }

    static func message(for status: OSStatus) -> String? {
        guard let words = Thread.current.threadDictionary[key] as? RefusalMessage, words.status == status else { return nil }
        return words.message
    }

    private final class RefusalMessage {
        let status: OSStatus
        let message: String
        init(_ status: OSStatus, _ message: String) {
            self.status = status
            self.message = message
        }
    }
}

/// Returns a message for a status: Apple's `SecCopyErrorMessageString`. For the status of this thread's last call, the message gives the
/// reason and the remedy; for a number that is not one of Apple's statuses it is `OSStatus N`.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    NSString(string: LastRefusal.message(for: status) ?? staticMessage(for: status) ?? "OSStatus \(status)")
}
