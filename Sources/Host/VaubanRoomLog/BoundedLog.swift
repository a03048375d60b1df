package import Logging
package import VaubanLinuxHost
package import VaubanRefusal

/// A room's log that limits the lines that each user's programs can cause. Lines beyond the limit are counted, and the next line reports
/// their number.
package struct BoundedLog: Sendable {
    private let logger: Logger
    private let accounts: Accounts
    private let limiter = LogLimiter()

    /// Creates a bounded log over `logger`. `accounts` determines the owners whose lines are counted together.
    package init(_ logger: Logger, accounts: Accounts = .ofThisMachine) {
        self.logger = logger
        self.accounts = accounts
    }

    package func info(_ text: Logger.Message, about uid: UInt32, _ metadata: Logger.Metadata = [:]) {
        write(text, level: .info, about: uid, metadata: metadata)
    }

    package func notice(_ text: Logger.Message, about uid: UInt32, _ metadata: Logger.Metadata = [:]) {
        write(text, level: .notice, about: uid, metadata: metadata)
    }

    package func warning(_ text: Logger.Message, about uid: UInt32, _ metadata: Logger.Metadata = [:]) {
        write(text, level: .warning, about: uid, metadata: metadata)
    }

    package func error(_ text: Logger.Message, about uid: UInt32, _ metadata: Logger.Metadata = [:]) {
        write(text, level: .error, about: uid, metadata: metadata)
    }

    /// Logs a refusal at the level that fits its cause: an administrator must see a full disk, but not a wrong request.
    package func refusal(_ text: Logger.Message, about uid: UInt32, _ refusal: Refusal, why: String? = nil) {
        var metadata: Logger.Metadata = ["reason": "\(refusal.reason)", "blame": "\(refusal.blame)"]
        if let why = why ?? refusal.detail { metadata["why"] = "\(why)" }
        write(text, level: Self.level(for: refusal.blame), about: uid, metadata: metadata)
    }

    package static func level(for blame: Refusal.Blame) -> Logger.Level {
        switch blame {
        case .caller, .user: .notice
        case .peer: .warning
        case .disk, .machine: .error
        }
    }

    private func write(_ text: Logger.Message, level: Logger.Level, about uid: UInt32, metadata: Logger.Metadata) {
        guard let leftOut = limiter.line(about: accounts.owner(of: uid)) else { return }
        var metadata = metadata
        metadata["user"] = "\(uid)"
        if leftOut > 0 { metadata["lines left out"] = "\(leftOut)" }
        logger.log(level: level, text, metadata: metadata)
    }
}
