internal import Logging
internal import VaubanLinuxHost

/// A log in which no user writes more than a few lines a minute by what their programs do; those that are left out are counted.
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
