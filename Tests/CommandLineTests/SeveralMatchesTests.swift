import Testing
import VaubanCommands
import VaubanKeychainModel

/// How the command line lists the items of which the user has to select one.
@Suite struct SeveralMatchesTests {
    private func record(owner: String) -> ItemRecord {
        ItemRecord(
            kind: .genericPassword,
            attributes: ItemAttributes([.service: .text("mail"), .account: .text("anna"), .accessGroup: .text(owner)]))
    }

    @Test("Beside an item of another owner, the user's own is selected by its owner too") func ownersAreNamed() {
        let text = SeveralMatches(verb: "get", records: [record(owner: "unsigned"), record(owner: "cli")]).description
        let options = text.split(separator: "\n").dropFirst().map { $0.trimmingPrefix("  vauban get --service mail --account anna ") }
        #expect(options == ["--owner cli", "--owner unsigned"])
    }

    @Test("Items that no option distinguishes are named as such") func equalOptionsAreNamed() {
        let text = SeveralMatches(verb: "get", records: [record(owner: "cli"), record(owner: "cli")]).description
        #expect(text.contains("use secret-tool or vauban-desktop"))
        #expect(!text.contains("--owner"))
    }
}
