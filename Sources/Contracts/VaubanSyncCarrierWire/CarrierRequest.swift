/// A request of `vauban sync` to the program that accesses a carrier (Specs/sync.md, "The carrier").
///
/// operation (1) ‖ section ‖ name ‖ the other file's section and name ‖ file; each section and name is its length (1) and that many bytes
package struct CarrierRequest: Hashable, Sendable {
    package enum Operation: UInt8, CaseIterable, Sendable {
        case names = 1
        case read = 2
        case add = 3
        case replace = 4
        case remove = 5
        /// Requests notices of changes from now on. It is the last request of a connection, and has any number of replies.
        case watch = 6
        /// As `read` and `add`, unless another file exists: then nothing is done, and the reply is `.present`.
        case readUnless = 7
        case addUnless = 8
        /// Requests the identity of the store, and the number of its changes.
        case revision = 9

        var hasSection: Bool { self != .watch && self != .revision }
        var hasFile: Bool { self == .add || self == .replace || self == .addUnless }
        var hasName: Bool { self != .names && hasSection }
        var hasOther: Bool { self == .readUnless || self == .addUnless }
    }

    package struct File: Hashable, Sendable {
        package let section: String
        package let name: String

        package init(section: String, name: String) {
            self.section = section
            self.name = name
        }
    }

    package let operation: Operation
    /// Empty for `watch` and `revision`.
    package let section: String
    /// Empty for `names`, `watch` and `revision`.
    package let name: String
    /// The file that must not exist, for `readUnless` and `addUnless`.
    package let other: File?
    /// The content for `add`, `addUnless` and `replace`; otherwise empty.
    package let file: [UInt8]

    /// Returns nil for values that the grammar does not allow.
    package init?(_ operation: Operation, section: String, name: String = "", unless other: File? = nil, file: [UInt8] = []) {
        guard operation.hasSection ? CarrierGrammar.isSection(section) : section.isEmpty,
            operation.hasName ? CarrierGrammar.isName(name) : name.isEmpty,
            operation.hasFile ? file.count <= CarrierGrammar.fileBytesMax : file.isEmpty,
            operation.hasOther == (other != nil),
            other.map({ CarrierGrammar.isSection($0.section) && CarrierGrammar.isName($0.name) && $0 != File(section: section, name: name) }
            )
                ?? true
        else { return nil }
        self.operation = operation
        self.section = section
        self.name = name
        self.other = other
        self.file = file
    }

    package init?(bytes: [UInt8]) {
        var rest = bytes[...]
        guard let operation = rest.popFirst().flatMap(Operation.init), let section = Self.text(&rest), let name = Self.text(&rest) else {
            return nil
        }
        var other: File?
        if operation.hasOther {
            guard let section = Self.text(&rest), let name = Self.text(&rest) else { return nil }
            other = File(section: section, name: name)
        }
        self.init(operation, section: section, name: name, unless: other, file: Array(rest))
    }

    package var bytes: [UInt8] {
        let texts = [section, name] + (other.map { [$0.section, $0.name] } ?? [])
        return [operation.rawValue] + texts.flatMap { [UInt8($0.utf8.count)] + $0.utf8 } + file
    }

    static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let count = rest.popFirst().map(Int.init), rest.count >= count else { return nil }
        let text = String(validating: rest.prefix(count), as: UTF8.self)
        rest = rest.dropFirst(count)
        return text
    }
}
