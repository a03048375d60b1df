import Foundation
import Keychain
import Testing
import VaubanLinuxHost

/// What keychaind remembers for each user, such as the canaries that it has seen (Specs/canaries.md).
@Suite struct ValuesOfUsersTests {
    @Test("The subordinate uids of one user take no other user's place, nor that user's own")
    func manyUIDs() throws {
        let etc = NSTemporaryDirectory() + "etc-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: etc, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: etc) }
        try Data("mallory:x:1000:1000::/:/bin/sh\nanna:x:1001:1001::/:/bin/sh\n".utf8).write(to: URL(fileURLWithPath: etc + "/passwd"))
        try Data("mallory:100000:65536\n".utf8).write(to: URL(fileURLWithPath: etc + "/subuid"))
        var values = ValuesOfUsers<Set<Int>>(accounts: Accounts(folder: etc))
        let uids = (0..<1000).map { 100_000 + UInt32($0) }
        for uid in uids { values.change(uid, from: []) { $0 = [1] } }
        let known = uids.filter { values.value(of: $0) != nil }
        #expect(known.count == KeychainLimits.usersOfOwnerMax)
        for user: UInt32 in [1000, 1001] {
            values.change(user, from: []) { $0 = [1] }
            values.change(user, from: []) { $0 = $0.union([2]) }
            #expect(values.value(of: user) == [1, 2])
            values.change(user) { $0 = $0.subtracting([1]) }
            #expect(values.value(of: user) == [2])
        }
        values.change(1002) { $0 = [3] }
        #expect(values.value(of: 1002) == nil)
    }
}
