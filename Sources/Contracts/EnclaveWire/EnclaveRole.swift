// The roles on enclaved's socket (Specs/enclave-wire.md). Only rooms connect to it, never applications.

/// The role of a connection to the enclave. The greeting names it, and it is accepted only from the uid of that role's room.
package enum EnclaveRole: Int64, Sendable {
    /// keychaind, on behalf of one caller connection.
    case keychain = 1
    /// keychaind's standing connection, over which the enclave recalls leased keys.
    case lease = 2
    /// authd, on behalf of one caller connection.
    case authentication = 3
    /// authd's standing connection, over which the enclave sends prompts.
    case prompts = 4
    /// The witness's standing connection, over which the enclave requests the identity of a process.
    case witness = 5
    /// The watcher's standing connection, over which it reports device events.
    case watcher = 6
    /// The fingerprint reader's standing connection, over which the enclave requests a match.
    case reader = 7
}
