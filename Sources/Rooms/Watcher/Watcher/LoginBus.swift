internal import CVaubanBus
internal import VaubanLinuxHost

/// A connection to the bus of the login manager, used by one thread.
final class LoginBus {
    /// A received signal, with its sender as the bus daemon names it. The receiver decides whether to trust it.
    struct Signal {
        enum Kind {
            case ownerChanged
            case prepare(isBeginning: Bool)
            case screen(isLocked: Bool)
            case other
        }

        let kind: Kind
        let sender: String
        let path: String
    }

    /// The owner of the login manager's name.
    struct Owner: Hashable {
        let uniqueName: String
        let uid: UInt32
    }

    private let bus: OpaquePointer

    /// Connects and subscribes to the login manager's signals.
    init(address: String) throws(SystemError) {
        var bus: OpaquePointer?
        try SystemError.checkNegated(vauban_bus_open(address, WatcherLimits.busAnswerMax / 1000, &bus), "reach the bus")
        guard let bus else { throw SystemError("reach the bus", code: 0) }
        self.bus = bus
    }

    deinit { vauban_bus_close(bus) }

    func owner() throws(SystemError) -> Owner? {
        var name = [CChar](repeating: 0, count: Int(VAUBAN_BUS_NAME_MAX))
        var uid: UInt32 = 0
        let found = try SystemError.checkNegated(vauban_bus_login_owner(bus, &name, &uid), "ask who the login manager is")
        guard found == 1 else { return nil }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Owner(uniqueName: text, uid: uid)
    }

    func isPreparingForSleep(_ owner: Owner) throws(SystemError) -> Bool {
        try SystemError.checkNegated(vauban_bus_is_preparing_for_sleep(bus, owner.uniqueName), "ask whether the machine goes to sleep") == 1
    }

    /// Delays sleep until the descriptor is closed.
    func delaySleep(_ owner: Owner) throws(SystemError) -> Descriptor {
        let why = "Vauban erases the keys of unlocked keychains before the machine sleeps"
        return Descriptor(try SystemError.checkNegated(vauban_bus_delay_sleep(bus, owner.uniqueName, "Vauban", why), "hold up sleep"))
    }

    func user(ofSession path: String, _ owner: Owner) throws(SystemError) -> UInt32 {
        var uid: UInt32 = 0
        try SystemError.checkNegated(vauban_bus_session_user(bus, owner.uniqueName, path, &uid), "ask whose session it is")
        return uid
    }

    /// Returns the next received signal; nil if there is none at this moment.
    func next() throws(SystemError) -> Signal? {
        var sender: UnsafePointer<CChar>?
        var path: UnsafePointer<CChar>?
        var flag = false
        let number = try SystemError.checkNegated(vauban_bus_next(bus, &sender, &path, &flag), "hear the bus")
        let kind: Signal.Kind
        switch vauban_bus_signal(UInt32(number)) {
        case VAUBAN_BUS_NOTHING: return nil
        case VAUBAN_BUS_OWNER_CHANGED: kind = .ownerChanged
        case VAUBAN_BUS_PREPARE: kind = .prepare(isBeginning: flag)
        case VAUBAN_BUS_SESSION_LOCK: kind = .screen(isLocked: true)
        case VAUBAN_BUS_SESSION_UNLOCK: kind = .screen(isLocked: false)
        case VAUBAN_BUS_LOCKED_HINT: kind = .screen(isLocked: flag)
        default: kind = .other
        }
        return Signal(kind: kind, sender: sender.map { String(cString: $0) } ?? "", path: path.map { String(cString: $0) } ?? "")
    }

    /// Waits until the bus is readable, or for the given nanoseconds.
    func wait(_ time: UInt64?) throws(SystemError) {
        try SystemError.checkNegated(vauban_bus_wait(bus, time.map { $0 / 1000 + 1 } ?? .max), "wait for the bus")
    }
}
