internal import EnclaveWire
internal import VaubanLinuxHost

/// A request of the enclave to the sensor.
struct SensorRequest {
    enum Kind {
        case finger
        case enroll
        case forget
        case list
    }

    let kind: Kind
    let user: UInt32
    let nonce: [UInt8]
    let came = MachineClock.monotonic
    /// Failures of the sensor during this request.
    var faults = 0
    /// Whether the user was notified that another program uses the sensor.
    var reportedBusy = false

    init(_ kind: Kind, of user: UInt32, nonce: [UInt8]) {
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

/// The open requests. Requests whose user has entered the passcode, such as for an enrollment, come first, in order; then the newest
/// request for a finger, whose user is probably the one at the screen. Older ones wait and continue afterwards.
struct SensorRequestList {
    private var list: [SensorRequest] = []

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ request: SensorRequest) {
        list.append(request)
        if list.count > ReaderLimits.requestsMax { list.removeFirst() }
    }

    mutating func remove(_ nonce: [UInt8]) { list.removeAll { $0.nonce == nonce } }
    mutating func removeAll() { list = [] }
    mutating func removeOld(now: UInt64) { list.removeAll { now - $0.came > ReaderLimits.requestMax } }

    func contains(_ nonce: [UInt8]) -> Bool { list.contains { $0.nonce == nonce } }

    /// The request to be served next.
    var first: SensorRequest? { list.first { $0.kind != .finger } ?? list.last }

    mutating func change(_ nonce: [UInt8], _ change: (inout SensorRequest) -> Void) {
        guard let index = list.firstIndex(where: { $0.nonce == nonce }) else { return }
        change(&list[index])
    }
}
