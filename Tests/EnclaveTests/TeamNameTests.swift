// The names of teams that prompts show (Specs/code-signing.md).

import Enclave
import Testing
import VaubanAccessPolicy

@Suite struct TeamNameTests {
    private static func team(_ number: UInt8) -> TeamIdentifier {
        TeamIdentifier(keyDigest: [UInt8](repeating: number, count: 32))
    }

    @Test("A team keeps its name while it is trusted, and erasing the keychain ends all trust") func namesEndWithTrust() throws {
        let vault = try Workbench().startProtected()
        let (one, two) = (Self.team(1), Self.team(2))
        vault.teamNames.set("One", of: one)
        vault.teamNames.set("Two", of: two)
        vault.teamNames.set("Another", of: one)
        #expect(vault.teamNames[one] == "Another" && vault.teamNames[two] == "Two")
        vault.teamNames.set(nil, of: one)
        #expect(vault.teamNames[one] == nil && vault.teamNames[two] == "Two")
        try vault.erase(secret(Workbench.passcode))
        #expect(vault.teamNames[two] == nil)
    }

    @Test("A user has at most 64 names of teams, which can still be changed and removed") func namesAreLimited() throws {
        let names = Workbench().start().teamNames
        for number in 0..<80 as Range<UInt8> { names.set("\(number)", of: Self.team(number)) }
        #expect(names[Self.team(63)] == "63" && names[Self.team(64)] == nil)
        names.set("again", of: Self.team(63))
        names.set(nil, of: Self.team(0))
        names.set("79", of: Self.team(79))
        #expect(names[Self.team(63)] == "again" && names[Self.team(0)] == nil && names[Self.team(79)] == "79")
    }
}
