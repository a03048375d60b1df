import Foundation
package import VaubanAccessPolicy
package import VaubanKeychainModel

extension ItemRecord {
    /// An attribute as text, empty where there is none or where it is not text.
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

    /// `service/account` or `server/account`, fit to be shown; the slash stands only between two names.
    package var name: String {
        let parts = [text(kind == .genericPassword ? .service : .server), text(.account)]
        return SafeText.visible(parts.filter { !$0.isEmpty }.joined(separator: "/"))
    }

    package var protectionName: String { protection.shownName }

    /// Whether reading it asks for the user.
    package var asks: Bool { accessControl.map { $0.requirementToDecrypt != .none } ?? false }

    /// One line for a user who is about to change the item: its name, when it was last changed, how it is protected, and its
    /// owner where that is another program.
    package var summary: String {
        var parts = [name]
        if case .date(let microseconds)? = attributes[.modificationDate] {
            parts.append("last changed \(Date(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000).formatted(.iso8601))")
        }
        parts.append("readable: \(protectionName)\(asks ? ", needs your approval" : "")")
        if ![AccessGroup.commandLine, AccessGroup.unsigned].contains(owner) { parts.append("owner: \(SafeText.visible(owner))") }
        return parts.joined(separator: "; ")
    }

    /// The options that mean this item and no other, to be copied.
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

    /// As a shell takes it for one word.
    private func quoted(_ text: String) -> String {
        let plain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || "._-/@:+".unicodeScalars.contains($0)
            }
        return plain ? text : "'" + SafeText.visible(text).replacing("'", with: "'\\''") + "'"
    }
}

extension Protection {
    /// When an item can be read, in the words of `--when` and `--this-device`.
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

/// More than one item is meant: they are listed, and nothing is done.
package struct SeveralMatches: Error, CustomStringConvertible {
    package let verb: String
    package let records: [ItemRecord]
    private static let shownMax = 50

    package var description: String {
        var lines = ["vauban: More than one item matches; nothing was done. Choose one:"]
        lines += records.map(\.options).sorted().prefix(Self.shownMax).map { "  vauban \(verb) \($0)" }
        if records.count > Self.shownMax { lines.append("  and \(records.count - Self.shownMax) more; to list them: vauban list") }
        return lines.joined(separator: "\n")
    }
}
