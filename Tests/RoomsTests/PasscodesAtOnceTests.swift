// Concurrent passcodes and application passwords through the real rooms.

import Foundation
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAuthenticationClient
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes
import VaubanUserModel

@Suite("Concurrent passcodes")
struct PasscodesAtOnceTests {
    @Test("Seven concurrent unlocks with the right passcode all succeed, repeatedly")
    func sevenUnlocksAtOnce() throws {
        let rooms = try Rooms()
        try rooms.setPasscode()
        for _ in 1...5 {
            try rooms.authentication.lock()
            let answers = Mutex<[Refusal.Reason?]>([])
            DispatchQueue.concurrentPerform(iterations: 7) { _ in
                let client = AuthenticationClient(service: rooms.service)
                let reason = refusal { try answered { try client.unlock(secret(Rooms.passcode)) } }
                answers.withLock { $0.append(reason) }
            }
            #expect(answers.withLock { $0 } == [Refusal.Reason?](repeating: nil, count: 7))
            let status = try rooms.authentication.status().device
            #expect(status.lock == .unlocked && status.attemptsLeft == 5 && status.secondsToWait == 0)
        }
    }

    /// With the shipped cost: a fifth request of one user is refused while four wait, and none once those four have hung up.
    @Test("Application passwords whose callers hang up free their places and are not stored")
    func hangUpReleasesItsPlace() throws {
        let rooms = try Rooms(enclaveArguments: ["--cost", "shipped"])
        try rooms.setPasscode()
        // On a busy machine the turn of a request may come before keychaind notices that its caller has hung up.
        var unanswered = Int.max
        for round in 1...10 where unanswered > 4 { unanswered = try itemsOfCallersThatHangUp(rooms, service: "s \(round)") }
        // The one being derived at that moment, and the two of this test.
        #expect(unanswered <= 4)
        try rooms.authentication.lock()
        try rooms.unlock()
    }

    /// Has eight callers hang up while they request items with application passwords, and returns how many items of the service were stored
    /// in addition to those that were answered.
    private func itemsOfCallersThatHangUp(_ rooms: Rooms, service: String) throws -> Int {
        let control = try AccessControl(protection: .whenUnlocked, flags: .applicationPassword)
        @Sendable func add(_ account: String, by client: KeychainClient, cancellation: CallCancellation?) -> Refusal.Reason? {
            refusal {
                let record = ItemRecord(
                    kind: .genericPassword, attributes: ItemAttributes([.service: .text(service), .account: .text(account)]),
                    protection: .whenUnlocked, accessControl: control)
                let value: SecretBytes? = secret("value")
                let password: SecretBytes? = secret("of the application")
                _ = try client.add(record, secret: value, password: password, cancellation: cancellation)
            }
        }
        let cancellations = (1...8).map { _ in CallCancellation() }
        let group = DispatchGroup()
        let stored = Mutex(0)
        for (number, cancellation) in cancellations.enumerated() {
            group.enter()
            Thread.detachNewThread {
                // Until it is cancelled it has a place or tries to get one. After the first answer its item exists, which shows only after
                // the derivation.
                let client = KeychainClient(service: rooms.service)
                while !cancellation.isCancelled {
                    if add("flood \(number)", by: client, cancellation: cancellation) == nil { stored.withLock { $0 += 1 } }
                }
                group.leave()
            }
        }
        // All four places are taken when another request is refused.
        while add("probe", by: rooms.keychain, cancellation: nil) != .unavailable {}
        for cancellation in cancellations { cancellation.cancel() }
        #expect(group.wait(timeout: .now() + HangLimit.seconds) == .success)
        var reason = add("after", by: rooms.keychain, cancellation: nil)
        while reason == .unavailable { reason = add("after", by: rooms.keychain, cancellation: nil) }
        #expect(reason == nil || reason == .duplicateItem)
        var query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text(service)]))
        query.returns.insert(.attributes)
        query.limit = .all
        return try rooms.keychain.copyMatching(query).count - stored.withLock { $0 }
    }
}
