// Turns the login manager's signals into events for the enclave. Sleep is delayed until the enclave has replied.

import Glibc
internal import EnclaveWire
internal import Logging
internal import VaubanLinuxHost

/// The lifetime of one bus connection, ended by the error that ends the connection. A held inhibitor ends with it.
struct LoginBusConnection {
    private let bus: LoginBus
    private let connection: DeviceConnection
    private let settings: WatcherSettings
    private let log: Logger
    /// The trusted owner of the login manager's name. Signals from other senders are ignored.
    private var manager: LoginBus.Owner?
    private var inhibitor: Descriptor?
    /// When to request an inhibitor again; nil while one is held, while the machine sleeps and while there is no login manager.
    private var inhibitorDue: UInt64?

    init(_ settings: WatcherSettings, connection: DeviceConnection, log: Logger) throws(SystemError) {
        bus = try LoginBus(address: settings.bus)
        self.settings = settings
        self.connection = connection
        self.log = log
    }

    mutating func run() throws(SystemError) -> Never {
        try lookForManager()
        while true {
            while let signal = try bus.next() { try take(signal) }
            let now = MachineClock.monotonic
            if let due = inhibitorDue, due <= now { holdUpSleep() }
            try bus.wait(inhibitorDue.map { $0 > now ? $0 - now : 0 })
        }
    }

    /// Trusts the owner of the login manager's name if it runs as the one permitted user.
    private mutating func lookForManager() throws(SystemError) {
        let owner = try bus.owner()
        if let owner, owner.uid != settings.managerUID {
            log.warning("the login manager's name belongs to user \(owner.uid), who is not trusted")
        }
        let believed = owner?.uid == settings.managerUID ? owner : nil
        guard believed == nil || believed != manager else { return }
        manager = believed
        inhibitor = nil
        inhibitorDue = nil
        guard let believed else {
            log.notice("there is no login manager to watch: sleep and screen locks are not detected")
            connection.report(.blind)
            return
        }
        log.info("watching the login manager")
        connection.report(.watching)
        holdUpSleep()
        // The machine may have announced sleep before this process started, and the signal is sent only once.
        if (try? bus.isPreparingForSleep(believed)) == true { letSleep() }
    }

    private mutating func take(_ signal: LoginBus.Signal) throws(SystemError) {
        if case .ownerChanged = signal.kind { return try lookForManager() }
        guard let manager, signal.sender == manager.uniqueName else { return }
        switch signal.kind {
        case .prepare(isBeginning: true): letSleep()
        case .prepare(isBeginning: false):
            holdUpSleep()
            connection.report(.woke)
        case .screen(let isLocked): reportScreenLock(isLocked: isLocked, session: signal.path, manager)
        case .ownerChanged, .other: break
        }
    }

    /// Allows sleep once the enclave has replied, or the delay is over.
    private mutating func letSleep() {
        let isDone = connection.report(.sleeping, until: MachineClock.monotonic + WatcherLimits.sleepDelayMax)
        if !isDone { log.warning("the enclave did not confirm in time that everything is locked") }
        inhibitor = nil
        inhibitorDue = nil
    }

    private mutating func holdUpSleep() {
        guard let manager else { return }
        do throws(SystemError) {
            inhibitor = try bus.delaySleep(manager)
            inhibitorDue = nil
        } catch {
            log.warning("cannot delay sleep until everything is locked: \(error)")
            inhibitorDue = MachineClock.monotonic + WatcherLimits.inhibitorPause
        }
    }

    private func reportScreenLock(isLocked: Bool, session: String, _ manager: LoginBus.Owner) {
        do throws(SystemError) {
            let user = try bus.user(ofSession: session, manager)
            if let only = settings.onlyUser, only != user { return }
            connection.report(isLocked ? .screenLocked(user: user) : .screenUnlocked(user: user))
        } catch {
            log.notice("a screen was locked or unlocked, but its user is unknown: \(error)")
        }
    }
}
