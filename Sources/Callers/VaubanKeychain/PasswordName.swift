internal import Foundation
internal import Security

/// The attributes that identify an item: ``GenericPassword`` or ``InternetPassword``.
///
/// A name is a value: two equal names mean the same item. Labels, comments and protection are not part of it.
public protocol PasswordName: Hashable, Sendable {
    /// The name as keychain attributes.
    var fields: ItemFields { get }

    /// Creates the name of an item that a search found; nil if its parts are not text.
    init?(fields: ItemFields)
}

/// A class and attributes for `SecItem…`. It has no public parts, so only this module defines names and queries.
public struct ItemFields: Sendable {
    enum Value: Hashable, Sendable {
        case text(String)
        case number(Int)
        case data(Data)

        var object: Any {
            switch self {
            case .text(let text): text
            case .number(let number): number
            case .data(let data): data
            }
        }
    }

    let itemClass: String
    var values: [String: Value]

    init(_ itemClass: CFString, _ values: [String: Value]) {
        self.itemClass = itemClass as String
        self.values = values
    }

    /// Creates fields from the attributes of a found item, ignoring those that this module does not define.
    init(_ itemClass: String, found: [String: Any]) {
        self.itemClass = itemClass
        values = found.compactMapValues { value in
            switch value {
            case let text as String: .text(text)
            case let data as Data: .data(data)
            case let number as NSNumber: .number(number.intValue)
            default: nil
            }
        }
    }

    /// Returns text; decodes data as UTF-8, and returns empty text for a missing attribute.
    func text(_ name: CFString) -> String? {
        switch values[name as String] {
        case .text(let text): text
        case .data(let data): String(bytes: data, encoding: .utf8)
        case .number: nil
        case nil: ""
        }
    }

    func number(_ name: CFString) -> Int? {
        if case .number(let number) = values[name as String] { number } else { nil }
    }

    func data(_ name: CFString) -> Data? {
        switch values[name as String] {
        case .data(let data): data
        case .text(let text): Data(text.utf8)
        default: nil
        }
    }
}
