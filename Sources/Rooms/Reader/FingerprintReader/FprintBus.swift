internal import CVaubanBus
internal import EnclaveWire
internal import VaubanLinuxHost

/// A connection to the bus of fprintd, used by one thread. Throws when the bus itself fails.
final class FprintBus {
    /// The outcome of a call.
    enum Answer {
        case done
        /// fprintd or this sensor has disappeared.
        case gone
        case inUse
        case denied
        case noPrints
        /// fprintd did not answer in time. It may still carry out the call.
        case late
        case failed

        init(_ number: Int32) {
            self =
                switch vauban_fprint_answer(UInt32(number)) {
                case VAUBAN_FPRINT_DONE: .done
                case VAUBAN_FPRINT_GONE: .gone
                case VAUBAN_FPRINT_IN_USE: .inUse
                case VAUBAN_FPRINT_DENIED: .denied
                case VAUBAN_FPRINT_NO_PRINTS: .noPrints
                case VAUBAN_FPRINT_LATE: .late
                default: .failed
                }
        }
    }

    /// A received signal, with its sender as the bus daemon names it. The receiver decides whether to trust it.
    struct Signal {
        enum Kind {
            case ownerChanged
            case sensorsChanged
            /// The sensor's report about a touch, and whether it is done.
            case verify(String, isDone: Bool)
            case enroll(String, isDone: Bool)
            /// The machine is about to sleep, or is awake again.
            case sleep(isBeginning: Bool)
            case other
        }

        let kind: Kind
        let sender: String
        let path: String
    }

    /// The owner of fprintd's or the login manager's name.
    struct Owner: Hashable {
        let uniqueName: String
        let uid: UInt32
    }

    struct Sensor: Hashable {
        let path: String
        /// The model, as fprintd names it.
        let name: String
        /// Whether the user swipes a finger over it.
        let isSwipe: Bool
        /// The touches that enrolling a finger takes; 0 while fprintd does not report them.
        let touches: Int64
    }

    private let bus: OpaquePointer

    init(address: String) throws(SystemError) {
        var bus: OpaquePointer?
        try SystemError.checkNegated(vauban_fprint_open(address, ReaderLimits.answerMax / 1000, &bus), "reach the bus")
        guard let bus else { throw SystemError("reach the bus", code: 0) }
        self.bus = bus
    }

    deinit { vauban_bus_close(bus) }

    func owner() throws(SystemError) -> Owner? {
        var name = [CChar](repeating: 0, count: Int(VAUBAN_BUS_NAME_MAX))
        var uid: UInt32 = 0
        let found = try SystemError.checkNegated(vauban_fprint_owner(bus, &name, &uid), "ask who fprintd is")
        return found == 1 ? Owner(uniqueName: Self.text(name), uid: uid) : nil
    }

    func loginManager() throws(SystemError) -> Owner? {
        var name = [CChar](repeating: 0, count: Int(VAUBAN_BUS_NAME_MAX))
        var uid: UInt32 = 0
        let found = try SystemError.checkNegated(vauban_bus_login_owner(bus, &name, &uid), "ask who the login manager is")
        return found == 1 ? Owner(uniqueName: Self.text(name), uid: uid) : nil
    }

    func canStart() throws(SystemError) -> Bool {
        try SystemError.checkNegated(vauban_fprint_can_start(bus), "ask what the bus can start") == 1
    }

    func start() throws(SystemError) -> Bool { try SystemError.checkNegated(vauban_fprint_start(bus), "have fprintd started") == 1 }

    func sensor(_ owner: Owner) throws(SystemError) -> (Answer, Sensor?) {
        var path = [CChar](repeating: 0, count: Int(VAUBAN_FPRINT_TEXT_MAX))
        var found = vauban_fprint_sensor()
        let answer = try SystemError.checkNegated(vauban_fprint_sensor(bus, owner.uniqueName, &path, &found), "look for a sensor")
        guard answer == 0 else { return (Answer(answer), nil) }
        let name = withUnsafeBytes(of: found.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let kind = withUnsafeBytes(of: found.kind) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let touches = min(Int64(max(found.touches, 0)), ReaderReport.touchesMax)
        return (.done, Sensor(path: Self.text(path), name: name, isSwipe: kind == "swipe", touches: touches))
    }

    /// Returns the names of a user's fingers. "" means the calling user.
    func fingers(_ owner: Owner, _ sensor: Sensor, of user: String) throws(SystemError) -> (Answer, [String]) {
        var names = [CChar](repeating: 0, count: 4096)
        let answer = Answer(
            try SystemError.checkNegated(
                vauban_fprint_fingers(bus, owner.uniqueName, sensor.path, user, &names, names.count, ReaderLimits.ruleMax / 1000),
                "list fingers"))
        return (answer, Self.text(names).split(separator: "\n").map(String.init))
    }

    func call(
        _ owner: Owner, sensor: Sensor, method: String, text: String? = nil, within time: UInt64 = ReaderLimits.ruleMax
    ) throws(SystemError) -> Answer {
        let answer: Int32 =
            if let text {
                vauban_fprint_call(bus, owner.uniqueName, sensor.path, method, text, time / 1000)
            } else {
                vauban_fprint_call(bus, owner.uniqueName, sensor.path, method, nil, time / 1000)
            }
        return Answer(try SystemError.checkNegated(answer, "call fprintd"))
    }

    /// Returns the next received signal; nil if there is none at this moment.
    func next() throws(SystemError) -> Signal? {
        var sender: UnsafePointer<CChar>?
        var path: UnsafePointer<CChar>?
        var text: UnsafePointer<CChar>?
        var flag = false
        let number = try SystemError.checkNegated(vauban_fprint_next(bus, &sender, &path, &text, &flag), "hear the bus")
        let said = text.map { String(cString: $0) } ?? ""
        let kind: Signal.Kind
        switch vauban_fprint_signal(UInt32(number)) {
        case VAUBAN_FPRINT_NOTHING: return nil
        case VAUBAN_FPRINT_OWNER_CHANGED: kind = .ownerChanged
        case VAUBAN_FPRINT_SENSORS_CHANGED: kind = .sensorsChanged
        case VAUBAN_FPRINT_VERIFY: kind = .verify(said, isDone: flag)
        case VAUBAN_FPRINT_ENROLL: kind = .enroll(said, isDone: flag)
        case VAUBAN_FPRINT_SLEEP: kind = .sleep(isBeginning: flag)
        default: kind = .other
        }
        return Signal(kind: kind, sender: sender.map { String(cString: $0) } ?? "", path: path.map { String(cString: $0) } ?? "")
    }

    /// Waits until the bus or the descriptor is readable, or for the given nanoseconds.
    func wait(_ time: UInt64?, or descriptor: Int32) throws(SystemError) {
        try SystemError.checkNegated(vauban_fprint_wait(bus, descriptor, time.map { $0 / 1000 + 1 } ?? .max), "wait for the bus")
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
