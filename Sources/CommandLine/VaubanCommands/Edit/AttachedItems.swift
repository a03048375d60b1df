import ArgumentParser
import VaubanKeychainModel

extension ServiceClient {
    /// Prints how to rename the items that are attached to a password whose name has changed. They are found by its name, so they no
    /// longer belong to it.
    func reportAttachedItemsLeft(by record: ItemRecord, after changes: ItemAttributes) {
        let now = ItemRecord(kind: record.kind, attributes: record.attributes.merging(changes))
        guard [.genericPassword, .internetPassword].contains(record.kind),
            (now.loginName, now.text(.account)) != (record.loginName, record.text(.account))
        else { return }
        for (prefix, noun) in [(ImportPlan.codesPrefix, "one-time code"), (ImportPlan.fieldsPrefix, "protected fields")] {
            let words = ["--service=\(prefix)\(record.loginName)", "--account=\(record.text(.account))"]
            guard let found = try? matches(ItemSelection.parse(words)) else { continue }
            for item in found where item.text(.account) == record.text(.account) {
                var renamed = item
                renamed.attributes[.service] = .text(prefix + now.loginName)
                renamed.attributes[.account] = now.attributes[.account] ?? .text("")
                say("Its \(noun) kept the old name. To rename it too: vauban rename \(item.options) --as \(renamed.quotedName)")
            }
        }
    }
}
