internal import Logging
internal import VaubanLinuxHost

/// A log in which one user's programs cause at most a few lines a minute. Suppressed lines are counted.
struct BoundedLog: Sendable {
    private let logger: Logger
    private let accounts: Accounts
    private let limiter = LogLimiter()

    init(_ logger: Logger, accounts: Accounts = .ofThisMachine) {
        self.logger = logger
        self.accounts = accounts
    }

    func notice(_ text: Logger.Message, about uid: UInt32, _ metadata: Logger.Metadata = [:]) { write(.notice, text, uid, metadata) }
    func info(_ text: Logger.Message, about uid: UInt32, _ metadata: Logger.Metadata = [:]) { write(.info, text, uid, metadata) }

    private func write(_ level: Logger.Level, _ text: Logger.Message, _ uid: UInt32, _ metadata: Logger.Metadata) {
        guard let leftOut = limiter.line(about: accounts.owner(of: uid)) else { return }
        var metadata = metadata
        metadata["user"] = "\(uid)"
        if leftOut > 0 { metadata["lines left out"] = "\(leftOut)" }
        logger.log(level: level, text, metadata: metadata)
    }
}
