internal import EnclaveWire
internal import VaubanLinuxHost

/// A request of the enclave to the sensor.
package struct SensorRequest {
    package enum Kind: Sendable {
        case finger
        case enroll
        case forget
        case list
    }

    package let kind: Kind
    package let user: UInt32
    package let nonce: [UInt8]
    let came = MachineClock.monotonic
    /// Failures of the sensor during this request.
    var faults = 0
    /// Whether the user was notified that another program or user has the sensor.
    var reportedBusy = false

    package init(_ kind: Kind, of user: UInt32, nonce: [UInt8]) {
        self.kind = kind
        self.user = user
        self.nonce = nonce
    }

    init?(_ notice: ReaderNotice) {
        switch notice {
        case .ask(let user, let nonce): self.init(.finger, of: user, nonce: nonce)
        case .enroll(let user, let nonce): self.init(.enroll, of: user, nonce: nonce)
        case .forgetFingers(let user, let nonce): self.init(.forget, of: user, nonce: nonce)
        case .list(let user, let nonce): self.init(.list, of: user, nonce: nonce)
        case .pair, .ready, .cancel, .hold, .drop: return nil
        }
    }
}
