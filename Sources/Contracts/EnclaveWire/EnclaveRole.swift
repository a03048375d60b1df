// The door of enclaved (Specs/enclave-wire.md). It is between rooms only: no application speaks here.

/// What a connection to the enclave is for; named in the greeting, and believed only from the uid that the room has.
package enum EnclaveRole: Int64, Sendable {
    /// keychaind, on behalf of one caller connection.
    case keychain = 1
    /// keychaind's standing connection, over which the enclave takes back lent keys.
    case lease = 2
    /// authd, on behalf of one caller connection.
    case authentication = 3
    /// authd's standing connection, over which the enclave asks for the user.
    case attention = 4
    /// The witness's standing connection, over which the enclave asks who a process is.
    case witness = 5
    /// The watcher's standing connection, over which the enclave hears what happens to the machine.
    case watcher = 6
    /// The fingerprint reader's standing connection, over which the enclave asks for a match.
    case reader = 7
}
