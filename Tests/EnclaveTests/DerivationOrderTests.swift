import Enclave
import Testing

/// The order of derivations, without threads: one place per owner, passcodes before application passwords, a limited length.
@Suite struct DerivationOrderTests {
    private static let victim: UInt32 = 1000
    private static let hostile: [UInt32] = (2000..<2016).map { $0 }

    /// Enqueues a request of an owner.
    private func enqueue(_ owner: UInt32, _ kind: DerivationKind, in order: inout DerivationOrder) throws
        -> DerivationOrder.DerivationTicket
    {
        let place = order.enter(owner, kind)
        return order.wait(try #require(place))
    }

    /// Gives every waiting request its turn; returns their places in order.
    private func finish(_ order: inout DerivationOrder) -> [DerivationOrder.Place] {
        var served: [DerivationOrder.Place] = []
        while let running = order.running {
            served.append(running.place)
            order.end(running)
            order.leave(running.place)
        }
        return served
    }

    @Test("An unlock runs next while sixteen owners flood the queue with application passwords")
    func unlockRunsNextInAFlood() throws {
        var order = DerivationOrder()
        for _ in 0..<EnclaveLimits.applicationDerivationsWaitingMax {
            for owner in Self.hostile { _ = try enqueue(owner, .applicationPassword, in: &order) }
        }
        let unlock = try enqueue(Self.victim, .passcode, in: &order)
        #expect(order.running != unlock)
        let next = order.end(try #require(order.running))
        #expect(next == unlock)
    }

    @Test("The owner served longest ago runs before sixteen who send one passcode after another")
    func ownerServedLongestAgoRunsNext() throws {
        var order = DerivationOrder()
        for owner in Self.hostile { _ = try enqueue(owner, .passcode, in: &order) }
        // Each owner that was served sends another request at once.
        for _ in 0..<100 {
            let running = try #require(order.running)
            order.end(running)
            order.leave(running.place)
            _ = try enqueue(running.place.owner, .passcode, in: &order)
        }
        let unlock = try enqueue(Self.victim, .passcode, in: &order)
        let next = order.end(try #require(order.running))
        #expect(next == unlock)
    }

    @Test("An owner's second request waits behind the first requests of others")
    func ownerHasOnePlaceInTheQueue() throws {
        var order = DerivationOrder()
        for kind in [DerivationKind.passcode, .applicationPassword] {
            for _ in 0..<3 { _ = try enqueue(1, kind, in: &order) }
            for owner in [2, 3] as [UInt32] { _ = try enqueue(owner, kind, in: &order) }
            let owners = finish(&order).map(\.owner)
            #expect(owners == [1, 2, 3, 1, 1])
        }
    }

    @Test("Application passwords are served although one owner sends one passcode after another")
    func passcodesDoNotStarvePasswords() throws {
        var order = DerivationOrder()
        _ = try enqueue(1, .passcode, in: &order)
        _ = try enqueue(2, .applicationPassword, in: &order)
        for round in 0..<10 {
            _ = try enqueue(1, .passcode, in: &order)
            let running = try #require(order.running)
            order.end(running)
            order.leave(running.place)
            if order.running?.place.owner == 2 { return }
            #expect(round < 2)
        }
        Issue.record("the password of the application was never reached")
    }

    @Test("An owner has eight places, four of them for application passwords, and takes none from others")
    func placesOfEachOwnerAreLimited() {
        var order = DerivationOrder()
        func enters(_ owner: UInt32, _ kind: DerivationKind) -> Bool { order.enter(owner, kind) != nil }
        let passwords = (0..<5).map { _ in enters(1, .applicationPassword) }
        #expect(passwords == [true, true, true, true, false])
        let passcodes = (0..<5).map { _ in enters(1, .passcode) }
        #expect(passcodes == [true, true, true, true, false])
        let other = enters(2, .applicationPassword)
        order.leave(.init(owner: 1, kind: .passcode))
        let password = enters(1, .applicationPassword), passcode = enters(1, .passcode)
        #expect(other && !password && passcode)
    }

    @Test("A request that leaves before its turn delays no other")
    func departedRequestDoesNotBlockOthers() throws {
        var order = DerivationOrder()
        let first = try enqueue(1, .passcode, in: &order)
        let gone = try enqueue(2, .passcode, in: &order)
        let last = try enqueue(3, .passcode, in: &order)
        let afterGone = order.end(gone)
        #expect(afterGone == nil && order.waitingCount == 1)
        let afterFirst = order.end(first)
        #expect(afterFirst == last)
    }

    /// Owners that send one request only are forgotten, however many there are; all others are still served.
    @Test("Many owners are served in turn") func manyOwnersAreServedInTurn() throws {
        var order = DerivationOrder()
        for owner in 0..<5000 as Range<UInt32> {
            _ = try enqueue(owner, .passcode, in: &order)
            guard owner > 0, let running = order.running else { continue }
            order.end(running)
            order.leave(running.place)
        }
        let left = finish(&order)
        #expect(left.count == 1)
    }
}
