/// What is known of one user's files while they are watched, whichever node tells (Specs/sync.md, "Following").
///
/// A watch goes on from the last change that was told of. Where that is not possible, since etcd was compacted or is another one, it begins
/// anew, and anything may have changed.
package struct EtcdWatch: Sendable {
    private let keys: EtcdKeys
    /// The first revision that was not told of; nil if the next watch begins anew.
    private var next: Int64?
    private var cluster: Int64?
    /// Whether the next confirmed watch is reported: the first one, and each after a fault, in which something else may have failed too.
    private var tellsAll = true

    package init(user: String) { keys = EtcdKeys(user: user) }

    package var request: EtcdRequest { .watch(keys.allFiles, from: next) }

    /// What follows from a message.
    package enum Step: Hashable, Sendable {
        case goOn
        /// Files were added or replaced in these sections; without one, anything may have changed.
        case changed([String])
        /// The watch has ended; the next one begins anew.
        case beginAnew
    }

    /// Has the next confirmed watch reported as a change of anything.
    package mutating func noteFault() { tellsAll = true }

    /// Takes a message of the watch.
    /// - Throws: Why the watch has ended.
    package mutating func take(_ line: [UInt8]) throws(EtcdFault) -> Step {
        let message = try EtcdWatchMessage(line)
        if let (reason, compacted) = message.cancellation {
            guard compacted == 0 else { return beginAnew() }
            throw Self.fault(reason)
        }
        if message.isCreated { return created(message) }
        guard !message.changes.isEmpty else { return .goOn }
        if !message.isFragment, let last = message.changes.map({ $0.revision }).max() { next = max(next ?? 0, last + 1) }
        var sections: [String] = []
        for (key, _) in message.changes {
            guard keys.allFiles.contains(key) else { throw .garbage }
            if let section = keys.section(of: key), !sections.contains(section) { sections.append(section) }
        }
        return sections.isEmpty ? .goOn : .changed(sections)
    }

    private mutating func created(_ message: EtcdWatchMessage) -> Step {
        // A watch from a revision that is not there yet would say nothing until it is.
        if let next, cluster != message.cluster || next > message.revision + 1 { return beginAnew() }
        if next == nil { next = message.revision + 1 }
        cluster = message.cluster
        defer { tellsAll = false }
        return tellsAll ? .changed([]) : .goOn
    }

    private mutating func beginAnew() -> Step {
        next = nil
        tellsAll = true
        return .beginAnew
    }

    /// etcd tells in words alone why it ends a watch.
    private static func fault(_ reason: String) -> EtcdFault {
        let codes: [(text: String, code: Int64)] = [
            ("permission denied", 7), ("invalid auth token", 16), ("revision of auth store is old", 3), ("user name is empty", 3),
        ]
        guard let known = codes.first(where: { reason.contains($0.text) }) else { return EtcdFault(code: 14, message: reason) }
        return EtcdFault(code: known.code, message: reason)
    }
}
