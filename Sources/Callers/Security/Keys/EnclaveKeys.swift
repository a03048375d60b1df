internal import Synchronization
internal import VaubanAccessPolicy
internal import VaubanKeychainClient
internal import VaubanLinuxHost

/// The lines of this process to the enclave's keys: one pool for as long as the environment names the same service.
enum EnclaveKeys {
    private static let current = Mutex<(environment: ServiceEnvironment, client: KeyClient)?>(nil)

    static func client() throws(Refusal) -> KeyClient {
        let environment = ServiceEnvironment.ofThisProcess
        if let known = current.withLock({ $0 }), known.environment == environment { return known.client }
        let client = KeyClient(service: try Service.current())
        current.withLock { $0 = (environment, client) }
        return client
    }
}
