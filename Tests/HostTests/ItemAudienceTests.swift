import SecretService
import Testing

/// Who hears of an item of the Secret Service, and how often the keychain is searched for that.
@Suite struct ItemAudienceTests {
    private struct Client {
        let application: ClientApplication
        var isPermitted = false
    }

    /// Returns the positions of the clients that hear of an item, and how often the item and its permissions were looked up.
    private static func heard(
        _ clients: [Client], item: ItemAudience.Item?, permitted: Set<String> = []
    ) -> (heard: [Int], items: Int, permissions: Int) {
        var searches = (items: 0, permissions: 0)
        let audience = ItemAudience {
            searches.items += 1
            return item
        } permitted: {
            searches.permissions += 1
            return permitted
        }
        let heard = audience.listeners(among: Array(clients.indices)) {
            clients[$0].application
        } isPermitted: {
            clients[$0].isPermitted
        }
        return (heard, searches.items, searches.permissions)
    }

    @Test(
        "A change of an item costs two searches, however many sandboxed connections there are",
        arguments: [
            (0..<200).map { _ in ClientApplication.sandboxed("flatpak:org.example.App") },
            (0..<200).map { .sandboxed("flatpak:org.example.App\($0)") },
            (0..<200).map { $0 % 2 == 0 ? .unknown : .sandboxed("snap:app\($0 % 7)") },
        ])
    func changeCostsTwoSearches(_ applications: [ClientApplication]) {
        let clients = [Client(application: .user)] + applications.map { Client(application: $0) } + [Client(application: .user)]
        let said = Self.heard(clients, item: .init(isLocked: false, owner: nil))
        #expect(said.heard == [0, 201])
        #expect(said.items == 1)
        #expect(said.permissions == 1)
    }

    @Test("Without sandboxed connections nothing is searched for") func programsOutsideOfSandboxesCostNothing() {
        let said = Self.heard([Client](repeating: Client(application: .user), count: 200), item: nil)
        #expect(said.heard.count == 200)
        #expect(said.items + said.permissions == 0)
    }

    @Test("An item's owner hears of it without a search for permissions") func ownerNeedsNoPermission() {
        let own = [Client](repeating: Client(application: .sandboxed("snap:own")), count: 200)
        let said = Self.heard(own, item: .init(isLocked: false, owner: "snap:own"))
        #expect(said.heard.count == 200)
        #expect(said.permissions == 0)
    }

    @Test("Applications with the user's permission hear of an item, others do not, and none while it is locked")
    func permissionDecides() {
        let clients = [
            Client(application: .sandboxed("snap:a")), Client(application: .sandboxed("snap:b")), Client(application: .unknown),
            Client(application: .unknown, isPermitted: true), Client(application: .user),
        ]
        #expect(Self.heard(clients, item: .init(isLocked: false, owner: nil), permitted: ["snap:b"]).heard == [1, 3, 4])
        #expect(Self.heard(clients, item: .init(isLocked: true, owner: "snap:a"), permitted: ["snap:b"]).heard == [3, 4])
        #expect(Self.heard(clients, item: nil, permitted: ["snap:b"]).heard == [4])
    }
}
