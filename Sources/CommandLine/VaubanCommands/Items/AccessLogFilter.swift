// Which uses of items vauban log shows, and in which form.

import ArgumentParser
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanPlainText

/// One use of one item.
package struct RecordedUse: Hashable {
    package let number: Int64
    let record: AccessRecord
    let item: UsedItem
    /// The item's name; empty if no record has it.
    var name: String
}

package struct AccessLogFilter {
    /// The name of an item, or its service or server.
    var item: String?
    /// A substring of a program's path or name.
    var program: String?
    var action: AccessAction?
    var onlyRefused = false
    var onlyCanaries = false
    /// Microseconds since the reference date.
    var since: Int64?

    func includes(_ record: AccessRecord) -> Bool {
        if let action, record.action != action { return false }
        if onlyRefused, record.isDone { return false }
        if onlyCanaries, !record.items.contains(where: \.isCanary) { return false }
        if let since, record.ended < since { return false }
        if let program { return record.program?.hasName(containing: program) ?? false }
        return true
    }

    func includes(_ item: UsedItem) -> Bool { !onlyCanaries || item.isCanary }

    func includes(itemNamed name: String) -> Bool {
        guard let item else { return true }
        return SafeText.visible(name) == item || name == item || name.hasPrefix(item + "/")
    }
}

extension AccessLogFilter {
    /// Includes what happened since a time, in microseconds since the reference date.
    package init(since: Int64) { self.init(item: nil, since: since) }
}

extension AccessRecord {
    var isDone: Bool { outcome == .done || outcome == .approved }

    /// The names of the programs that started the program, as a line shows them; nil if none is known.
    var startedBy: String? {
        let names = parents.map { PathBytes.name(of: $0) }.filter { !$0.isEmpty }
        return names.isEmpty ? nil : "started by \(names.joined(separator: ", "))"
    }
}

extension AccessProgram {
    fileprivate func hasName(containing text: String) -> Bool { application.contains(text) || path.contains(text) }

    /// The program as a line shows it, with the Vauban commands that it used.
    var shown: String {
        let name = path.isEmpty ? "an unknown program" : path
        guard throughCommandLine else { return name }
        let commands = commands.compactMap { $0.split(separator: "/").last }.map(String.init)
        return "\(name), with \(commands.isEmpty ? "vauban" : commands.joined(separator: ", "))"
    }
}

extension AccessAction {
    /// The word in the text, in JSON and for --action.
    var word: String {
        switch self {
        case .read: "read"
        case .added: "added"
        case .changed: "changed"
        case .deleted: "deleted"
        case .backedUp: "backed-up"
        case .synchronized: "synchronized"
        case .signed: "signed"
        case .decrypted: "decrypted"
        }
    }
}

extension AccessAction: ExpressibleByArgument {
    init?(argument: String) {
        guard let action = Self.allCases.first(where: { $0.word == argument }) else { return nil }
        self = action
    }

    static var allValueStrings: [String] { allCases.map(\.word) }
}

extension AccessOutcome {
    /// The words after the action; nil for a use that succeeded without more to report.
    var words: String? {
        switch self {
        case .done: nil
        case .approved: "with approval"
        case .refused: "refused"
        case .notApproved: "not approved"
        }
    }

    /// The word in JSON.
    var word: String {
        switch self {
        case .done: "done"
        case .approved: "approved"
        case .refused: "refused"
        case .notApproved: "not-approved"
        }
    }
}
