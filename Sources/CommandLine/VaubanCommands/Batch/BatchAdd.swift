import ArgumentParser
import VaubanAccessPolicy
import VaubanJSON
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// `vauban add --json`: adds all items of a document, or none if the document has an error or one of the items exists.
enum BatchAdd {
    static let bytesMax = 256 << 20
    private static let reportedMax = 50

    /// Runs the command. An empty secret is an error unless `takesEmpty` is set.
    static func run(_ path: String, _ client: ServiceClient, takesEmpty: Bool) throws {
        let document = ItemDocument(try InputFile.read(path, max: bytesMax), takesEmpty: takesEmpty)
        guard document.faults.isEmpty else {
            report(document.faults.map { "line \($0.line): \($0.why)" })
            say("vauban: Nothing was added; correct the lines above first")
            throw ExitCode(CommandEnd.usage)
        }
        for entry in document.entries where entry.record.number(.synchronizable) != 0 {
            let secret: SecretBytes? = document.secret(of: entry)
            if let secret { try CodeCounter.checkIsLocal(entry.record, secret) }
        }
        try client.openNow()
        var there: [String] = []
        for entry in document.entries where try client.hasNamesake(entry.record.asOwn) {
            there.append("line \(entry.line): \(entry.record.name) already exists")
        }
        guard there.isEmpty else {
            report(there)
            throw Refusal(.duplicateItem, "Nothing was added, since some items already exist; see the lines above")
        }
        try add(document, client)
    }

    private static func add(_ document: borrowing ItemDocument, _ client: ServiceClient) throws {
        let progress = Progress()
        var added = 0
        for entry in document.entries {
            if added % 100 == 0, added > 0 { progress.show("Adding: \(added) of \(document.entries.count)") }
            do {
                let secret: SecretBytes? = document.secret(of: entry)
                try client.add(entry.record.asOwn, secret: secret)
                added += 1
            } catch {
                progress.clear()
                say("Stopped at line \(entry.line), \(entry.record.name); \(added) of \(document.entries.count) were added before it.")
                throw error
            }
        }
        progress.clear()
        say("\(count(added, "item")) added.")
    }

    private static func report(_ lines: [String]) {
        for line in lines.prefix(reportedMax) { say(line) }
        let more = lines.count - reportedMax
        if more > 0 { say("\(more) more \(more == 1 ? "line is" : "lines are") not shown.") }
    }
}

extension ItemRecord {
    /// The same item with the user as its owner.
    var asOwn: ItemRecord {
        var own = self
        own.attributes[.accessGroup] = .text(AccessGroup.commandLine)
        return own
    }
}

extension ServiceClient {
    /// Whether an item of this name exists: among the user's own items if the service distinguishes programs, otherwise among all items.
    func hasNamesake(_ record: ItemRecord) throws -> Bool {
        var query = record.namesake(ofAnyOwner: service.mode != .system)
        query.authenticationUI = .describe
        let wanted = query
        return try withUnlock { try !found(wanted).isEmpty }
    }
}
