/// What `vauban sync` asks the program that speaks to a carrier (Specs/sync.md, "The carrier").
///
/// operation (1) ‖ length of the section (1) ‖ section ‖ length of the name (1) ‖ name ‖ file
package struct CarrierRequest: Hashable, Sendable {
    package enum Operation: UInt8, CaseIterable, Sendable {
        case names = 1
        case read = 2
        case add = 3
        case replace = 4
        case remove = 5
        /// Asks to be told of changes from now on. It is the last request of a connection, and has many replies.
        case watch = 6
    }

    package let operation: Operation
    /// Empty for `watch`.
    package let section: String
    /// Empty for `names` and `watch`.
    package let name: String
    /// Empty but for `add` and `replace`.
    package let file: [UInt8]

    /// Returns nil for what breaks the grammar.
    package init?(_ operation: Operation, section: String, name: String = "", file: [UInt8] = []) {
        let hasFile = operation == .add || operation == .replace
        let hasName = operation != .names && operation != .watch
        guard operation == .watch ? section.isEmpty : CarrierGrammar.isSection(section),
            hasName ? CarrierGrammar.isName(name) : name.isEmpty,
            hasFile ? file.count <= CarrierGrammar.fileBytesMax : file.isEmpty
        else { return nil }
        self.operation = operation
        self.section = section
        self.name = name
        self.file = file
    }

    package init?(bytes: [UInt8]) {
        var rest = bytes[...]
        guard let operation = rest.popFirst().flatMap(Operation.init), let section = Self.text(&rest), let name = Self.text(&rest) else {
            return nil
        }
        self.init(operation, section: section, name: name, file: Array(rest))
    }

    package var bytes: [UInt8] {
        [operation.rawValue, UInt8(section.utf8.count)] + section.utf8 + [UInt8(name.utf8.count)] + name.utf8 + file
    }

    static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let count = rest.popFirst().map(Int.init), rest.count >= count else { return nil }
        let text = String(validating: rest.prefix(count), as: UTF8.self)
        rest = rest.dropFirst(count)
        return text
    }
}
