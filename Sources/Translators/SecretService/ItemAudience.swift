/// The clients that are notified about an item: all programs outside of sandboxes, and the applications that may use it. The lookups are
/// done once for all clients, so the cost of a change does not grow with the connections that cannot see the item.
package struct ItemAudience {
    /// The properties of an item that decide who may use it.
    package struct Item: Sendable {
        let isLocked: Bool
        /// The sandboxed application that stored the item; nil if it is the user's.
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

    /// Returns the clients that are notified about the item, in their given order. `isPermitted` returns whether a client may use the item
    /// until it leaves the bus.
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
