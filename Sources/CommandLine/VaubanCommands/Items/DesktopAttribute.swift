// The attributes by which desktop programs find their items (Specs/secret-service.md). They tell items with equal names apart.

import ArgumentParser
import VaubanKeychainModel

/// A condition on one of these attributes, in the form of `--attribute NAME=VALUE`.
struct DesktopAttribute {
    let name: String
    /// The exact value; empty if the item must lack the attribute, or have it without a value.
    let value: String

    /// Parses a condition.
    ///
    /// - Throws: A usage error if the name or the equals sign is missing.
    init(_ word: String) throws(ValidationError) {
        let parts = word.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw ValidationError("--attribute needs a name and a value, such as --attribute host=example.com")
        }
        name = String(decoding: parts[0], as: UTF8.self)
        value = String(decoding: parts[1], as: UTF8.self)
    }

    /// Returns whether an item fulfills the condition. Values are compared by their bytes, as desktop programs compare them.
    func isFulfilled(by record: ItemRecord) -> Bool {
        record.kind == .genericPassword && record.desktopValue(name).utf8.elementsEqual(value.utf8)
    }
}

extension ItemRecord {
    /// The attributes that desktop programs see; those of an item that none of them stored follow from its name.
    private var desktopAttributes: [SecretServiceAttributes.Pair] {
        guard kind == .genericPassword else { return [] }
        if let own = SecretServiceAttributes(attributes[.secretServiceAttributes]) { return own.attributes }
        return [
            SecretServiceAttributes.Pair("service", text(.service)), SecretServiceAttributes.Pair("username", text(.account)),
        ]
    }

    /// Returns the value of an attribute; empty if the item does not have it.
    fileprivate func desktopValue(_ name: String) -> String {
        desktopAttributes.first { $0.name.utf8.elementsEqual(name.utf8) }?.value ?? ""
    }

    /// Returns the names of attributes whose values tell these items apart: one if one is enough, otherwise all in which they differ.
    static func desktopNames(distinguishing records: [ItemRecord]) -> [String] {
        guard records.count > 1 else { return [] }
        let names = Set(records.flatMap { record in record.desktopAttributes.map { $0.name } }).sorted()
        let differing = names.compactMap { name -> (name: String, count: Int)? in
            let values = Set(records.map { $0.desktopValue(name) })
            let isExpressible = isTypeable(name) && !name.utf8.contains(UInt8(ascii: "=")) && values.allSatisfy(isTypeable)
            return isExpressible && values.count > 1 ? (name: name, count: values.count) : nil
        }
        if let one = differing.first(where: { $0.count == records.count }) { return [one.name] }
        return differing.map { $0.name }
    }

    private static let typeableBytesMax = 200

    /// Whether a text can be shown as a word to copy.
    private static func isTypeable(_ text: String) -> Bool {
        text.utf8.count <= typeableBytesMax && SafeText.visible(text).utf8.elementsEqual(text.utf8)
    }

    /// Returns the option that selects items with the value of this one.
    func desktopOption(_ name: String) -> String { "--attribute \(SafeText.word("\(name)=\(desktopValue(name))"))" }
}
