// The state of a right as a publisher, from the user's answer in the rooms to the subscriber.

import Foundation
import LocalAuthentication
import OpenCombine
import Synchronization
import TestSupport
import Testing
import VaubanAuthenticationClient
import VaubanCombine

extension AppleNames {
    @Suite("Publishers of rights")
    struct RightPublisherTests {
        let rooms: Rooms

        init() throws { rooms = try SharedRooms.use() }

        @Test("A subscriber receives every state and the end", .proves("C-194"))
        func subscriberReceivesEveryStateAndTheEnd() async throws {
            let user = try rooms.user([.passcode(Rooms.passcode), .cancel])
            defer { user.leave() }
            var right: LARight? = LARight(requirement: .default)
            let seen = Mutex<[String]>([])
            let subscription = right?.publisher(for: \.state).sink(
                receiveCompletion: { _ in seen.withLock { $0.append("end") } },
                receiveValue: { state in seen.withLock { $0.append("\(state)") } })
            try await right?.authorize(localizedReason: "open")
            await right?.deauthorize()
            await #expect(throws: LAError.self) { try await right?.authorize(localizedReason: "open") }
            right = nil
            #expect(
                seen.withLock { $0 } == ["unknown", "authorizing", "authorized", "notAuthorized", "authorizing", "notAuthorized", "end"])
            subscription?.cancel()
        }

        /// Nothing is dropped for a subscriber that demands one value at a time, and nothing arrives beyond its demand.
        @Test("A publisher delivers on demand, drops nothing and sends nothing beyond the demand")
        func publisherDeliversOnDemand() async throws {
            let user = try rooms.user([.passcode(Rooms.passcode)])
            defer { user.leave() }
            let right = LARight()
            let slow = SlowSubscriber()
            right.publisher(for: \.state).subscribe(slow)
            #expect(slow.seen.isEmpty)
            try await right.authorize(localizedReason: "open")
            for _ in 1...2 { slow.ask() }
            #expect(slow.seen == [.unknown, .authorizing])
            slow.ask()
            slow.ask()
            #expect(slow.seen == [.unknown, .authorizing, .authorized])
            // The subscriber had demanded one more.
            await right.deauthorize()
            #expect(slow.seen.last == .notAuthorized)
            slow.cancel()
            await #expect(throws: LAError.self) { try await right.authorize(localizedReason: "") }
            slow.ask()
            #expect(slow.seen.count == 4)
        }

        @Test("The publisher of a released right sends only the end") func publisherOfAReleasedRightSendsOnlyTheEnd() async throws {
            let publisher = LARight().publisher(for: \.state)
            let seen = Mutex<[LARight.State]>([])
            let isOver = Mutex(false)
            let subscription = publisher.sink(
                receiveCompletion: { _ in isOver.withLock { $0 = true } }, receiveValue: { state in seen.withLock { $0.append(state) } })
            #expect(seen.withLock { $0 } == [.unknown] && isOver.withLock { $0 })
            subscription.cancel()
        }
    }
}

/// Demands one value when it is told to.
///
/// `@unchecked Sendable`: mutable state is used under the lock.
private final class SlowSubscriber: Subscriber, @unchecked Sendable {
    typealias Input = LARight.State
    typealias Failure = Never

    private let lock = NSLock()
    private var subscription: (any Subscription)?
    private var states: [LARight.State] = []

    var seen: [LARight.State] { lock.withLock { states } }
    func ask() { lock.withLock { subscription }?.request(.max(1)) }
    func cancel() { lock.withLock { subscription }?.cancel() }

    func receive(subscription: any Subscription) { lock.withLock { self.subscription = subscription } }
    func receive(_ input: LARight.State) -> Subscribers.Demand {
        lock.withLock { states.append(input) }
        return .none
    }
    func receive(completion: Subscribers.Completion<Never>) {}
}
