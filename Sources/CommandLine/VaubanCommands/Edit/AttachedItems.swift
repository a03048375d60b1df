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
        for (item, prefix, noun) in attachedItems(of: record) {
            var renamed = item
            renamed.attributes[.service] = .text(prefix + now.loginName)
            renamed.attributes[.account] = now.attributes[.account] ?? .text("")
            say("Its \(noun) kept the old name. To rename it too: vauban rename \(item.options) --as \(renamed.quotedName)")
        }
    }

    /// Prints how to delete the items that were attached to a deleted password.
    func reportAttachedItemsLeft(byDeleting record: ItemRecord) {
        guard [.genericPassword, .internetPassword].contains(record.kind) else { return }
        for (item, _, noun) in attachedItems(of: record) {
            say("Not deleted: its \(noun). To delete that too: vauban delete \(item.options)")
        }
    }

    private func attachedItems(of record: ItemRecord) -> [(item: ItemRecord, prefix: String, noun: String)] {
        [(ImportPlan.codesPrefix, "one-time code"), (ImportPlan.fieldsPrefix, "protected fields")].flatMap { prefix, noun in
            let words = ["--service=\(prefix)\(record.loginName)", "--account=\(record.text(.account))"]
            let found = (try? matches(ItemSelection.parse(words))) ?? []
            return found.filter { $0.text(.account) == record.text(.account) }.map { ($0, prefix, noun) }
        }
    }
}
