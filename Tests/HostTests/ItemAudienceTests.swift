import SecretService
import Testing

/// Which clients are notified of an item of the Secret Service, and how often the keychain is searched for that.
@Suite struct ItemAudienceTests {
    private struct Client {
        let application: ClientApplication
        var isPermitted = false
    }

    /// Returns the positions of the clients that are notified of an item, and how often the item and its permissions were looked up.
    private static func notified(
        _ clients: [Client], item: ItemAudience.Item?, permitted: Set<String> = []
    ) -> (notified: [Int], items: Int, permissions: Int) {
        var searches = (items: 0, permissions: 0)
        let audience = ItemAudience {
            searches.items += 1
            return item
        } permitted: {
            searches.permissions += 1
            return permitted
        }
        let notified = audience.listeners(among: Array(clients.indices)) {
            clients[$0].application
        } isPermitted: {
            clients[$0].isPermitted
        }
        return (notified, searches.items, searches.permissions)
    }

    @Test(
        "A changed item needs two searches, however many sandboxed connections there are",
        arguments: [
            (0..<200).map { _ in ClientApplication.sandboxed("flatpak:org.example.App") },
            (0..<200).map { .sandboxed("flatpak:org.example.App\($0)") },
            (0..<200).map { $0 % 2 == 0 ? .unknown : .sandboxed("snap:app\($0 % 7)") },
        ])
    func changeNeedsTwoSearches(_ applications: [ClientApplication]) {
        let clients = [Client(application: .user)] + applications.map { Client(application: $0) } + [Client(application: .user)]
        let result = Self.notified(clients, item: .init(isLocked: false, owner: nil))
        #expect(result.notified == [0, 201])
        #expect(result.items == 1)
        #expect(result.permissions == 1)
    }

    @Test("Without sandboxed connections the keychain is not searched") func programsOutsideOfSandboxesNeedNoSearch() {
        let result = Self.notified([Client](repeating: Client(application: .user), count: 200), item: nil)
        #expect(result.notified.count == 200)
        #expect(result.items + result.permissions == 0)
    }

    @Test("The owner of an item is notified without a search for permissions") func ownerNeedsNoPermission() {
        let own = [Client](repeating: Client(application: .sandboxed("snap:own")), count: 200)
        let result = Self.notified(own, item: .init(isLocked: false, owner: "snap:own"))
        #expect(result.notified.count == 200)
        #expect(result.permissions == 0)
    }

    @Test("Sandboxed applications are notified with the user's permission, and not while the item is locked")
    func permissionDecides() {
        let clients = [
            Client(application: .sandboxed("snap:a")), Client(application: .sandboxed("snap:b")), Client(application: .unknown),
            Client(application: .unknown, isPermitted: true), Client(application: .user),
        ]
        #expect(Self.notified(clients, item: .init(isLocked: false, owner: nil), permitted: ["snap:b"]).notified == [1, 3, 4])
        #expect(Self.notified(clients, item: .init(isLocked: true, owner: "snap:a"), permitted: ["snap:b"]).notified == [3, 4])
        #expect(Self.notified(clients, item: nil, permitted: ["snap:b"]).notified == [4])
    }
}
