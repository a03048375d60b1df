/// The state of a watch on one user's files, across nodes (Specs/sync.md, "Following").
///
/// A watch continues after the last reported change. Where that is impossible, since etcd was compacted or replaced, it starts over, and
/// anything may have changed.
package struct EtcdWatch: Sendable {
    private let keys: EtcdKeys
    /// The first revision that was not reported; nil if the next watch starts over.
    private var next: Int64?
    private var cluster: Int64?
    /// Whether the next confirmed watch is reported as a change of anything: the first one, and each after a fault, during which other
    /// operations may have failed too.
    private var reportsAll = true

    package init(user: String) { keys = EtcdKeys(user: user) }

    package var request: EtcdRequest { .watch(keys.allFiles, from: next) }

    /// The consequence of a message.
    package enum Step: Hashable, Sendable {
        case goOn
        /// Files were added or replaced in these sections; without one, anything may have changed.
        case changed([String])
        /// The watch has ended; the next one starts over.
        case beginAnew
    }

    /// Makes the next confirmed watch report a change of anything.
    package mutating func noteFault() { reportsAll = true }

    /// Handles a message of the watch.
    /// - Throws: The fault that ended the watch.
    package mutating func take(_ line: [UInt8]) throws(EtcdError) -> Step {
        let message = try EtcdWatchMessage(line)
        if let (reason, compacted) = message.cancellation {
            guard compacted == 0 else { return beginAnew() }
            throw Self.fault(reason)
        }
        if message.isCreated { return handleCreated(message) }
        guard !message.changes.isEmpty else { return .goOn }
        if !message.isFragment, let last = message.changes.map({ $0.revision }).max() { next = max(next ?? 0, last + 1) }
        var sections: [String] = []
        for (key, _) in message.changes {
            guard keys.allFiles.contains(key) else { throw .garbage }
            if let section = keys.section(of: key), !sections.contains(section) { sections.append(section) }
        }
        return sections.isEmpty ? .goOn : .changed(sections)
    }

    private mutating func handleCreated(_ message: EtcdWatchMessage) -> Step {
        // A watch from a revision that does not exist yet would be silent until it does.
        if let next, cluster != message.cluster || next > message.revision + 1 { return beginAnew() }
        if next == nil { next = message.revision + 1 }
        cluster = message.cluster
        defer { reportsAll = false }
        return reportsAll ? .changed([]) : .goOn
    }

    private mutating func beginAnew() -> Step {
        next = nil
        reportsAll = true
        return .beginAnew
    }

    /// etcd gives the reason for ending a watch only as text.
    private static func fault(_ reason: String) -> EtcdError {
        let codes: [(text: String, code: Int64)] = [
            ("permission denied", 7), ("invalid auth token", 16), ("revision of auth store is old", 3), ("user name is empty", 3),
        ]
        guard let known = codes.first(where: { reason.contains($0.text) }) else { return EtcdError(code: 14, message: reason) }
        return EtcdError(code: known.code, message: reason)
    }
}
