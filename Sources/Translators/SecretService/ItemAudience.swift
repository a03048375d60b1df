/// Who hears of an item: all programs outside of sandboxes, and the applications that may use it. That is decided for all clients together,
/// so a change costs the same however many connections cannot see the item.
package struct ItemAudience {
    /// An item as far as it decides who may use it.
    package struct Item: Sendable {
        let isLocked: Bool
        /// The sandboxed application that stored it; nil if it is the user's.
        let owner: String?

        package init(isLocked: Bool, owner: String?) { (self.isLocked, self.owner) = (isLocked, owner) }
    }

    /// Looks the item up; nil if it cannot be found. Called at most once.
    private let item: () -> Item?
    /// Looks up the applications that the user allowed to use the item. Called at most once.
    private let permitted: () -> Set<String>

    package init(item: @escaping () -> Item?, permitted: @escaping () -> Set<String>) {
        (self.item, self.permitted) = (item, permitted)
    }

    /// Returns those of the clients that hear of the item, in their order. `isPermitted` is whether a client may use it until it leaves the
    /// bus.
    package func listeners<Client>(
        among clients: [Client], application: (Client) -> ClientApplication, isPermitted: (Client) -> Bool
    ) -> [Client] {
        guard clients.contains(where: { application($0) != .user }) else { return clients }
        let item = item()
        var known: Set<String>?
        func mayUse(_ name: String, _ item: Item) -> Bool {
            if item.owner == name { return true }
            let names = known ?? permitted()
            known = names
            return names.contains(name)
        }
        return clients.filter { client in
            switch (application(client), item) {
            case (.user, _): true
            case (_, nil): false
            case (_, _?) where isPermitted(client): true
            case (.sandboxed(let name), let item?): !item.isLocked && mayUse(name, item)
            case (.unknown, _?): false
            }
        }
    }
}
