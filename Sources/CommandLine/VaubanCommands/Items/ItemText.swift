package import VaubanAccessPolicy
package import VaubanKeychainModel

extension ItemRecord {
    /// Returns an attribute as text, or an empty string if it is missing or not text.
    package func text(_ name: AttributeName) -> String {
        switch attributes[name] {
        case .text(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? ""
        case .number(let number): String(number)
        case .date, nil: ""
        }
    }

    package func number(_ name: AttributeName) -> Int64 {
        if case .number(let number) = attributes[name] { number } else { 0 }
    }

    /// The access group.
    package var owner: String { text(.accessGroup) }

    /// `service/account` or `server/account`, safe to display; there is a slash only between two names.
    package var name: String {
        let parts = [text(kind == .genericPassword ? .service : .server), text(.account)]
        return SafeText.visible(parts.filter { !$0.isEmpty }.joined(separator: "/"))
    }

    /// The name that the items attached to a password have after their prefix: its service, or its server with the port.
    package var loginName: String {
        kind == .genericPassword ? text(.service) : LoginName.of(server: text(.server), port: number(.port))
    }

    package var protectionName: String { protection.shownName }

    /// Whether reading the item requires a prompt.
    package var needsApproval: Bool { accessControl.map { $0.requirementToDecrypt != .none } ?? false }

    /// One line for a user who is about to change the item: its name, its modification date, its protection, and its owner if that is
    /// another program.
    package var summary: String {
        var parts = [name]
        if case .date(let microseconds)? = attributes[.modificationDate] {
            parts.append("last changed \(StatusText.time(microseconds))")
        }
        parts.append("readable: \(protectionName)\(needsApproval ? ", needs your approval" : "")")
        if ![AccessGroup.commandLine, AccessGroup.unsigned].contains(owner) { parts.append("owner: \(SafeText.visible(owner))") }
        return parts.joined(separator: "; ")
    }

    /// The options that select exactly this item, to be copied.
    package var options: String {
        var words = [kind == .genericPassword ? "--service" : "--server", quoted(text(kind == .genericPassword ? .service : .server))]
        words += ["--account", quoted(text(.account))]
        if kind == .internetPassword {
            if !text(.protocolName).isEmpty { words += ["--protocol", quoted(ProtocolCode.name(of: text(.protocolName)))] }
            words += ["--port", "\(number(.port))", "--path", quoted(text(.path))]
        }
        if owner != AccessGroup.commandLine { words += ["--owner", quoted(owner)] }
        return words.joined(separator: " ")
    }

    /// The name as one word of a shell.
    var quotedName: String { quoted([text(.service), text(.account)].filter { !$0.isEmpty }.joined(separator: "/")) }

    private func quoted(_ text: String) -> String { SafeText.word(text) }
}

extension ProtectionClass {
    /// The time at which an item can be read, in the words of `--when` and `--this-device`.
    package var shownName: String {
        switch self {
        case .whenUnlocked: "unlocked"
        case .afterFirstUnlock: "after-first-unlock"
        case .always: "always"
        case .whenUnlockedThisDeviceOnly: "unlocked, this device only"
        case .afterFirstUnlockThisDeviceOnly: "after-first-unlock, this device only"
        case .alwaysThisDeviceOnly: "always, this device only"
        case .whenPasscodeSetThisDeviceOnly: "passcode set, this device only"
        }
    }
}

/// An error for a selection that matches several items, which it lists. Nothing has been changed.
package struct SeveralMatches: Error, CustomStringConvertible {
    package let verb: String
    package let records: [ItemRecord]
    private static let shownMax = 50

    package init(verb: String, records: [ItemRecord]) {
        self.verb = verb
        self.records = records
    }

    package var description: String {
        var lines = ["vauban: More than one item matches; nothing was done. Choose one:"]
        let choices = choices
        lines += choices.map(\.options).sorted().prefix(Self.shownMax).map { "  vauban \(verb) \($0)" }
        if records.count > Self.shownMax { lines.append("  and \(records.count - Self.shownMax) more; to list them: vauban list") }
        let passwords = choices.filter { $0.record.kind == .genericPassword }.map(\.options)
        if Set(passwords).count < passwords.count {
            lines.append("The same options select several items, which desktop programs stored with equal attributes: use vauban-desktop.")
        }
        return lines.joined(separator: "\n")
    }

    /// Each item with the options that select it. Only the attributes of desktop programs distinguish generic passwords of one owner with
    /// the same name.
    private var choices: [(record: ItemRecord, options: String)] {
        let owners = Set(records.map(\.owner))
        // Without an owner, a name selects the items of every owner that are readable here.
        let named = records.map { record -> (record: ItemRecord, options: String) in
            let isOwn = owners.count > 1 && record.owner == AccessGroup.commandLine
            return (record: record, options: isOwn ? "\(record.options) --owner \(record.owner)" : record.options)
        }
        return Dictionary(grouping: named) { $0.options }.values.flatMap { group -> [(record: ItemRecord, options: String)] in
            let names = ItemRecord.desktopNames(distinguishing: group.map { $0.record })
            return group.map { choice in
                let options = [choice.options] + names.map { choice.record.desktopOption($0) }
                return (record: choice.record, options: options.joined(separator: " "))
            }
        }
    }
}
