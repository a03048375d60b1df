import ArgumentParser
import VaubanAccessPolicy
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// `vauban add --json`: all items of a document, or none where anything is wrong with it or is there already.
enum BatchAdd {
    static let bytesMax = 256 << 20
    private static let toldMax = 50

    /// An empty secret counts as wrong unless the caller says that it `takesEmpty` ones.
    static func run(_ path: String, _ session: Session, takesEmpty: Bool) throws {
        let document = ItemDocument(try InputFile.read(path, max: bytesMax), takesEmpty: takesEmpty)
        guard document.faults.isEmpty else {
            tell(document.faults.map { "line \($0.line): \($0.why)" })
            say("vauban: nothing was added, since not all of it can be taken.")
            throw ExitCode(CommandEnd.usage)
        }
        try session.openNow()
        var there: [String] = []
        for entry in document.entries where try session.hasNamesake(entry.record.asOwn) {
            there.append("line \(entry.line): \(entry.record.name) exists already")
        }
        guard there.isEmpty else {
            tell(there)
            throw Refusal(.duplicateItem, "nothing was added, since not all of it is new")
        }
        try add(document, session)
    }

    private static func add(_ document: borrowing ItemDocument, _ session: Session) throws {
        let progress = Progress()
        var added = 0
        for entry in document.entries {
            if added % 100 == 0, added > 0 { progress.show("Adding: \(added) of \(document.entries.count)") }
            do {
                let secret: SecretBytes? = document.secret(of: entry)
                try session.add(entry.record.asOwn, secret: secret)
                added += 1
            } catch {
                progress.clear()
                say("line \(entry.line): \(entry.record.name): it stops here; \(added) of \(document.entries.count) were added before it")
                throw error
            }
        }
        progress.clear()
        say("\(count(added, "item")) added.")
    }

    private static func tell(_ lines: [String]) {
        for line in lines.prefix(toldMax) { say(line) }
        if lines.count > toldMax { say("and \(lines.count - toldMax) more") }
    }
}

extension ItemRecord {
    /// The same as the user's own.
    var asOwn: ItemRecord {
        var own = self
        own.attributes[.accessGroup] = .text(AccessGroup.commandLine)
        return own
    }
}

extension Session {
    /// Whether there is an item of this name: where programs are told apart, of the user's own; else of any owner.
    func hasNamesake(_ record: ItemRecord) throws -> Bool {
        var query = record.namesake(ofAnyOwner: service.mode != .system)
        query.authenticationUI = .describe
        let wanted = query
        return try opening { try !found(wanted).isEmpty }
    }
}
