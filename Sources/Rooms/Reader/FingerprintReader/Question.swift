internal import EnclaveWire
internal import VaubanLinuxHost

/// What the enclave wants of the sensor.
struct Question {
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
    /// Faults of the sensor while this was before it.
    var faults = 0
    /// Whether the user was told that another program has the sensor.
    var saidBusy = false

    init(_ kind: Kind, _ user: UInt32, _ nonce: [UInt8]) {
        self.kind = kind
        self.user = user
        self.nonce = nonce
    }

    init?(_ notice: ReaderNotice) {
        switch notice {
        case .ask(let user, let nonce): self.init(.finger, user, nonce)
        case .enroll(let user, let nonce): self.init(.enroll, user, nonce)
        case .forgetFingers(let user, let nonce): self.init(.forget, user, nonce)
        case .list(let user, let nonce): self.init(.list, user, nonce)
        case .pair, .ready, .cancel, .hold, .drop: return nil
        }
    }
}

/// The questions that are open. Whoever is at the reader's terminal with their passcode typed comes first, in turn; then the
/// newest question for a finger, whose user is likely the one before the screen. An older one waits, and goes on afterwards.
struct QuestionList {
    private var list: [Question] = []

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ question: Question) {
        list.append(question)
        if list.count > ReaderLimits.questionsMax { list.removeFirst() }
    }

    mutating func remove(_ nonce: [UInt8]) { list.removeAll { $0.nonce == nonce } }
    mutating func removeAll() { list = [] }
    mutating func removeOld(now: UInt64) { list.removeAll { now - $0.came > ReaderLimits.questionMax } }

    func contains(_ nonce: [UInt8]) -> Bool { list.contains { $0.nonce == nonce } }

    /// The one to be before the sensor.
    var first: Question? { list.first { $0.kind != .finger } ?? list.last }

    mutating func change(_ nonce: [UInt8], _ change: (inout Question) -> Void) {
        guard let index = list.firstIndex(where: { $0.nonce == nonce }) else { return }
        change(&list[index])
    }
}
