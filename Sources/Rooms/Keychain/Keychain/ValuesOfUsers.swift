package import VaubanLinuxHost

/// Values that are kept for each user. Only some of one user's subordinate uids have a value, so that no user takes up the room of others.
package struct ValuesOfUsers<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let owner: UInt32
        var value: Value

        mutating func change(_ body: (inout Value) -> Void) { body(&value) }
    }

    private let accounts: Accounts
    private var entries: [UInt32: Entry] = [:]

    package init(accounts: Accounts = .ofThisMachine) { self.accounts = accounts }

    /// Returns the value of a user; nil if there is none.
    package func value(of user: UInt32) -> Value? { entries[user]?.value }

    /// Changes the value of a user, if there is one.
    package mutating func change(_ user: UInt32, _ body: (inout Value) -> Void) { entries[user]?.change(body) }

    /// Changes the value of a user, which begins as `first`. Does nothing if there is no room for another one.
    package mutating func change(_ user: UInt32, from first: Value, _ body: (inout Value) -> Void) {
        if entries[user] == nil {
            let owner = accounts.owner(of: user)
            guard user == owner || entries.values.count(where: { $0.owner == owner }) < KeychainLimits.usersOfOwnerMax else { return }
            entries[user] = Entry(owner: owner, value: first)
        }
        entries[user]?.change(body)
    }
}
