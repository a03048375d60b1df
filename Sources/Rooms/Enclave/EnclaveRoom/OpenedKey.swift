import Enclave
import VaubanKeyWire

/// A key with a handle. Keys without an access control stay open, separately for each operation.
struct OpenedKey: Sendable {
    let key: EnclaveKey
    let uses: KeyUseCounter
    private var signing: SoftwareKey?
    private var agreeing: SoftwareKey?

    init(key: EnclaveKey, uses: KeyUseCounter) {
        self.key = key
        self.uses = uses
    }

    func open(for operation: KeyOperation) -> SoftwareKey? { operation == .sign ? signing : agreeing }

    mutating func keep(_ open: SoftwareKey, for operation: KeyOperation) {
        // Keys of lattice algorithms are large, so they are opened again for each use.
        guard key.kind == .p256 else { return }
        if operation == .sign { signing = open } else { agreeing = open }
    }
}
