package import KeychainStore
package import Logging
internal import VaubanLinuxHost
internal import VaubanRoomLog

/// The services that all requests of the room share.
package struct KeychainServices: Sendable {
    package let databases: DatabaseRegistry
    package let leasedKeys: LeasedKeyStore
    /// Microseconds since the reference date.
    package let now: @Sendable () -> Int64
    package let sleepClock: SleepClock
    package let logger: Logger
    /// The websites' lists of applications; nil where programs are not distinguished, so that none has a website.
    package let siteLists: (any SiteLists)?
    let siteRequests = SiteRequests { MachineClock.monotonic }
    let largeUpdates: LargeUpdates
    let changes: SynchronizableChanges
    let accessLogs: AccessLogs
    /// The log for events that programs can cause at will.
    let boundedLog: BoundedLog

    package init(
        databases: DatabaseRegistry, leasedKeys: LeasedKeyStore, now: @escaping @Sendable () -> Int64, sleepClock: SleepClock,
        logger: Logger, siteLists: (any SiteLists)? = nil, accessLogs: AccessLogs? = nil,
        changes: SynchronizableChanges = SynchronizableChanges(), largeUpdates: LargeUpdates = LargeUpdates()
    ) {
        self.largeUpdates = largeUpdates
        self.changes = changes
        self.siteLists = siteLists
        self.databases = databases
        self.leasedKeys = leasedKeys
        self.now = now
        self.sleepClock = sleepClock
        self.logger = logger
        boundedLog = BoundedLog(logger)
        self.accessLogs = accessLogs ?? AccessLogs(databases: databases, logger: logger)
    }
}
