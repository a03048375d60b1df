import Foundation
import Glibc
import Testing
import VaubanLinuxHost

/// The owner of a uid, according to files in place of those in /etc.
@Suite struct AccountTests {
    private let etc: TestFolder
    private let accounts: Accounts

    init() throws {
        etc = try TestFolder()
        try FileManager.default.createDirectory(atPath: "\(etc.path)/vauban", withIntermediateDirectories: false)
        accounts = Accounts(folder: etc.path, filesOwner: geteuid())
        try write(
            "passwd", "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\n+::::::\nbroken\nbert:x:1001:1001::/:/bin/sh\n")
        try write(
            "subuid", "anna:100000:65536\nbert:165536:65536\n1001:300000:10\ndirectory:400000:65536\nanna:nonsense:3\nanna:4294967295:9\n")
    }

    private func write(_ name: String, _ text: String, mode: mode_t = 0o644) throws {
        let path = "\(etc.path)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + ".new"))
        chmod(path + ".new", mode)
        try #require(rename(path + ".new", path) == 0)
    }

    @Test("Every subordinate uid counts against its owner")
    func subordinateUIDs() {
        for uid: UInt32 in [100_000, 100_001, 165_535] { #expect(accounts.owner(of: uid) == 1000) }
        #expect(accounts.owner(of: 165_536) == 1001 && accounts.owner(of: 300_009) == 1001)
        #expect(accounts.standing(of: 165_535) == .subordinate(of: 1000) && accounts.name(of: 165_535) == nil)
        // An owner who is not in the system's list still counts as an owner.
        #expect(Set((UInt32(400_000)..<400_100).map(accounts.owner(of:))) == [400_000])
    }

    @Test("A listed user is their own owner and has a name")
    func listedUsers() {
        #expect(accounts.owner(of: 0) == 0 && accounts.owner(of: 1000) == 1000)
        #expect(accounts.name(of: 1000) == "anna" && accounts.standing(of: 1001) == .known(name: "bert"))
    }

    @Test("Unknown uids share one owner until the name service has named them")
    func unknownUIDs() {
        #expect(Set([70_000, 300_010, 4_294_967_294].map { accounts.owner(of: $0) }) == [Accounts.unlistedOwner])
        #expect(accounts.standing(of: 70_000) == .unlisted)
        accounts.confirm(70_000, name: "carla")
        #expect(
            accounts.owner(of: 70_000) == 70_000 && accounts.name(of: 70_000) == "carla"
                && accounts.owner(of: 70_001) == Accounts.unlistedOwner)
        accounts.confirm(70_000, name: nil)
        #expect(accounts.owner(of: 70_000) == Accounts.unlistedOwner)
    }

    @Test("Dynamic users of systemd do not count as users, whatever range contains them")
    func dynamicUsers() throws {
        try write("subuid", "anna:60000:10000\n")
        #expect(accounts.standing(of: 61_183) == .subordinate(of: 1000) && accounts.standing(of: 65_520) == .subordinate(of: 1000))
        for uid: UInt32 in [61_184, 65_519] {
            #expect(accounts.standing(of: uid) == .dynamic)
            accounts.confirm(uid, name: "a-service")
            // Separate from those that the name service may still name.
            #expect(accounts.owner(of: uid) == 61_184 && accounts.standing(of: uid) == .dynamic)
        }
    }

    @Test("Root's list allows numbers and names their owners")
    func rootsList() throws {
        try write(
            "vauban/uids", "# ours\n61184-61200 each\n500000-565535\n  600000-600009 anna # hers\n700000\nx\n5-4\n8 nobody-here\n9 anna 3\n"
        )
        #expect(accounts.owner(of: 61_184) == 61_184 && accounts.owner(of: 61_200) == 61_200 && accounts.standing(of: 61_201) == .dynamic)
        #expect(Set([500_000, 500_001, 565_535].map { accounts.owner(of: $0) }) == [500_000])
        #expect(accounts.owner(of: 600_005) == 1000 && accounts.standing(of: 600_005) == .subordinate(of: 1000))
        #expect(accounts.owner(of: 700_000) == 700_000 && accounts.standing(of: 700_000) == .known(name: nil))
        #expect([5, 8, 9].allSatisfy { accounts.standing(of: $0) == .unlisted })
    }

    @Test("A list that others can write allows no user, nor does a missing one")
    func listOfOthers() throws {
        try write("vauban/uids", "700000\n", mode: 0o664)
        #expect(accounts.standing(of: 700_000) == .unlisted)
        try write("vauban/uids", "700000\n")
        #expect(accounts.standing(of: 700_000) == .known(name: nil))
        #expect(unlink("\(etc.path)/vauban/uids") == 0)
        #expect(accounts.standing(of: 700_000) == .unlisted)
        let anothers = Accounts(folder: etc.path, filesOwner: geteuid() + 1)
        try write("vauban/uids", "700000\n")
        #expect(anothers.standing(of: 700_000) == .unlisted)
    }

    @Test("Files are read again when they change, and a missing file keeps its last content")
    func changes() throws {
        #expect(accounts.owner(of: 1002) == Accounts.unlistedOwner)
        try write("passwd", "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/:/bin/sh\ncarla:x:1002:1002::/:/bin/sh\n")
        #expect(accounts.owner(of: 1002) == 1002)
        // bert was removed, and no user in the list owns his range.
        #expect(accounts.owner(of: 1001) == Accounts.unlistedOwner && accounts.owner(of: 165_540) == 165_536)
        #expect(unlink("\(etc.path)/passwd") == 0 && unlink("\(etc.path)/subuid") == 0)
        #expect(accounts.name(of: 1002) == "carla" && accounts.owner(of: 100_005) == 1000)
    }
}
