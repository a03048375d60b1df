import Foundation
import Glibc
import Keychain
import Synchronization
import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanDER
import VaubanKeychainModel
import VaubanKeychainWire
import VaubanLinuxHost
import VaubanRefusal
import VaubanSecretBytes

/// The turns of updates that hold much memory (Specs/keychain-database.md, "Memory").
@Suite struct LargeUpdateTests {
    private struct Waits: Error {}

    /// A clock that is at each deadline as soon as something waits for it.
    private static func jumping() -> LargeUpdates.Clock {
        let now = Mutex<UInt64>(0)
        return LargeUpdates.Clock(now: { now.withLock { $0 } }) { _, deadline, _ in
            now.withLock { $0 = deadline }
            return .deadline
        }
    }

    /// Takes a turn; throws `Waits` instead of waiting on.
    private func turn(of user: UInt32, _ updates: LargeUpdates, prompts: Bool = false) throws -> LargeUpdates.Turn {
        try wait(of: user, updates, prompts: prompts) { throw Waits() }
    }

    /// Takes a turn, with all the time that a request has.
    private func wait(
        of user: UInt32, _ updates: LargeUpdates, prompts: Bool = false, connection: Descriptor? = nil, report: () throws -> Void
    ) throws -> LargeUpdates.Turn {
        var waitTime = KeychainLimits.waitTime
        return try updates.turn(of: user, prompts: prompts, connection: connection, waitTime: &waitTime, report: report)
    }

    @Test("A user with many uids has no more turns than another user, and takes none of theirs")
    func turnsAreOfOwners() throws {
        let updates = LargeUpdates(owner: { $0 >= 100_000 ? 1000 : $0 }, clock: Self.jumping())
        var turns = try (0..<KeychainLimits.largeUpdatesMax).map { try turn(of: 100_000 + UInt32($0), updates) }
        // A request that stops waiting leaves no place in the queue behind.
        for _ in 0...KeychainLimits.waitersMax { #expect(throws: Waits.self) { _ = try turn(of: 165_535, updates) } }
        let others = try (0..<KeychainLimits.largeUpdatesMax).map { _ in try turn(of: 1001, updates) }
        #expect(throws: Waits.self) { _ = try turn(of: 1000, updates) }
        // What one owner ends is free for that owner alone.
        updates.end(turns.removeLast())
        turns.append(try turn(of: 1000, updates))
        #expect(throws: Waits.self) { _ = try turn(of: 1001, updates) }
        for turn in turns + others { updates.end(turn) }
        for user: UInt32 in [1000, 1001] {
            for _ in 0..<KeychainLimits.largeUpdatesMax { _ = try turn(of: user, updates) }
        }
    }

    @Test("Updates that prompt during their turn have turns of their own") func promptingTurnsAreSeparate() throws {
        let updates = LargeUpdates(clock: Self.jumping())
        let prompting = try (0..<KeychainLimits.promptingUpdatesMax).map { _ in try turn(of: 7, updates, prompts: true) }
        #expect(throws: Waits.self) { _ = try turn(of: 7, updates, prompts: true) }
        let turns = try (0..<KeychainLimits.largeUpdatesMax).map { _ in try turn(of: 7, updates) }
        for turn in turns { updates.end(turn) }
        #expect(throws: Waits.self) { _ = try turn(of: 7, updates, prompts: true) }
        for turn in prompting { updates.end(turn) }
        _ = try turn(of: 7, updates, prompts: true)
    }

    @Test("An update that gets no turn in four minutes is refused, and is told until then that it goes on")
    func waitEndsAtDeadline() throws {
        let updates = LargeUpdates(clock: Self.jumping())
        let turns = try (0..<KeychainLimits.largeUpdatesMax).map { _ in try turn(of: 7, updates) }
        for _ in 0...KeychainLimits.waitersMax {
            var reports: UInt64 = 0
            let reason = Refusal.Reason.of { _ = try wait(of: 7, updates) { reports += 1 } }
            #expect(reason == .unavailable && reports == KeychainLimits.waitTime / KeychainLimits.silenceMax)
        }
        updates.end(turns[0])
        _ = try turn(of: 7, updates)
    }

    @Test("A request that waits several times waits four minutes in all") func waitsShareTheirTime() throws {
        let updates = LargeUpdates(clock: Self.jumping())
        for _ in 0..<KeychainLimits.largeUpdatesMax { _ = try turn(of: 7, updates) }
        var waitTime = KeychainLimits.waitTime
        for number: UInt64 in 1...2 {
            #expect(throws: Waits.self) { _ = try updates.turn(of: 7, connection: nil, waitTime: &waitTime) { throw Waits() } }
            #expect(waitTime == KeychainLimits.waitTime - number * KeychainLimits.silenceMax)
        }
        let reason = Refusal.Reason.of { _ = try updates.turn(of: 7, connection: nil, waitTime: &waitTime) {} }
        #expect(reason == .unavailable && waitTime == 0)
        // Nothing is left, and a free turn needs none.
        let last = Refusal.Reason.of { _ = try updates.turn(of: 7, connection: nil, waitTime: &waitTime) { throw Waits() } }
        #expect(last == .unavailable)
        _ = try updates.turn(of: 8, connection: nil, waitTime: &waitTime) { throw Waits() }
    }

    @Test("A caller that hangs up while it is given its turn does not keep the turn") func callerThatHungUpHasNoTurn() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let own = Descriptor(ends[0])
        // Shut down, not closed: a program that another test starts at this moment may have a copy.
        let peer = Mutex<Descriptor?>(Descriptor(ends[1]))
        let first = Mutex<LargeUpdates.Turn?>(nil)
        let updates = Mutex<LargeUpdates?>(nil)
        let clock = LargeUpdates.Clock(now: { 0 }) { wakeup, deadline, connection in
            // Both happen before the thread looks.
            peer.withLock { if let peer = $0 { shutdown(peer.number, Int32(SHUT_RDWR)) } }
            if let turn = first.withLock({ $0.take() }) { updates.withLock { $0 }?.end(turn) }
            return wakeup.wait(until: MachineClock.monotonic + HangLimit.nanoseconds, connection: connection)
        }
        let made = LargeUpdates(clock: clock)
        updates.withLock { $0 = made }
        defer { updates.withLock { $0 = nil } }
        let turns = try (0..<KeychainLimits.largeUpdatesMax).map { _ in try turn(of: 7, made) }
        first.withLock { $0 = turns[0] }
        #expect(throws: CallerHungUp.self) { _ = try wait(of: 7, made, connection: own) {} }
        // Its turn is free.
        _ = try turn(of: 7, made)
    }

    @Test("Turns are given in the order in which they were wanted, and the seventeenth that would wait is refused at once")
    func turnsAreInOrder() throws {
        let isWaiting = DispatchSemaphore(value: 0)
        let clock = LargeUpdates.Clock(now: { 0 }) { wakeup, _, connection in
            isWaiting.signal()
            return wakeup.wait(until: MachineClock.monotonic + HangLimit.nanoseconds, connection: connection)
        }
        let updates = LargeUpdates(clock: clock)
        var running = try (0..<KeychainLimits.largeUpdatesMax).map { _ in try turn(of: 7, updates) }
        let given = Mutex<[(number: Int, turn: LargeUpdates.Turn?)]>([])
        let isGiven = DispatchSemaphore(value: 0)
        func startWaiting(_ number: Int, connection: Descriptor? = nil) throws {
            Thread.detachNewThread {
                let turn = try? wait(of: 7, updates, connection: connection) {}
                given.withLock { $0.append((number, turn)) }
                isGiven.signal()
            }
            try #require(isWaiting.wait(timeout: .now() + HangLimit.seconds) == .success)
        }
        func next() throws -> (number: Int, turn: LargeUpdates.Turn?) {
            try #require(isGiven.wait(timeout: .now() + HangLimit.seconds) == .success)
            return given.withLock { $0.removeFirst() }
        }
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let own = Descriptor(ends[0])
        let peer = Descriptor(ends[1])
        for number in 0..<KeychainLimits.waitersMax { try startWaiting(number, connection: number == 3 ? own : nil) }
        #expect(Refusal.Reason.of { _ = try wait(of: 7, updates) {} } == .unavailable)
        // The fourth hangs up, and another one comes while all others wait.
        shutdown(peer.number, Int32(SHUT_RDWR))
        let left = try next()
        #expect(left.number == 3 && left.turn == nil)
        try startWaiting(KeychainLimits.waitersMax)
        for number in 0...KeychainLimits.waitersMax where number != 3 {
            updates.end(running.removeFirst())
            let (given, turn) = try next()
            #expect(given == number)
            running.append(try #require(turn))
        }
        for turn in running { updates.end(turn) }
        for _ in 0..<KeychainLimits.largeUpdatesMax { _ = try turn(of: 7, updates) }
    }

    // MARK: Over connections

    /// The updates that have entered a queue.
    private final class Waiters: Sendable {
        private let entered = DispatchSemaphore(value: 0)
        /// Those that were seen. They are kept, so that no other one gets the identity of one that is gone.
        private let seen = Mutex<[Wakeup]>([])

        /// The clock of this machine, which signals when an update waits for the first time.
        var clock: LargeUpdates.Clock {
            LargeUpdates.Clock(now: { MachineClock.monotonic }) { [self] wakeup, deadline, connection in
                let isNew = seen.withLock { seen in
                    guard !seen.contains(where: { $0 === wakeup }) else { return false }
                    seen.append(wakeup)
                    return true
                }
                if isNew { entered.signal() }
                return wakeup.wait(until: deadline, connection: connection)
            }
        }

        /// Returns once another update waits.
        func next() throws { try #require(entered.wait(timeout: .now() + HangLimit.seconds) == .success) }
    }

    private func add(_ service: String, _ account: String, bytes: Int, control: AccessControl? = nil, over channel: Channel) throws {
        let attributes = ItemAttributes([.account: .text(account), .service: .text(service)])
        let record = ItemRecord(kind: .genericPassword, attributes: attributes, accessControl: control)
        let value = SecretBytes([UInt8](repeating: 7, count: bytes))
        try channel.send(header: try KeychainRequest.add(record, returns: [], hasData: true).encoded(), secret: value)
        #expect(try finalReply(channel) == .done)
    }

    private static var presence: AccessControl {
        get throws { try AccessControl(protection: .whenUnlocked, flags: .userPresence) }
    }

    private static var passcode: AccessControl {
        get throws { try AccessControl(protection: .whenUnlocked, flags: .devicePasscode) }
    }

    /// Three large values: with two of them in memory, an update needs a turn for the third.
    private func addLarge(_ service: String, control: AccessControl? = nil, over channel: Channel) throws {
        for number in 0..<3 { try add(service, "\(number)", bytes: 800_000, control: control, over: channel) }
    }

    private func sendNewValues(of service: String, over channel: Channel) throws {
        let query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text(service)]))
        let changes = ItemChanges(attributes: ItemAttributes(), hasData: true)
        let value = SecretBytes([UInt8](repeating: 8, count: 800_000))
        try channel.send(header: try KeychainRequest.update(query, changes, passwordBytes: nil).encoded(), secret: value)
    }

    /// Takes every turn, by updates that stop in theirs. Returns their connections; each `sealing` has one go on.
    private func takeTurns(_ rooms: Rooms, by service: String = "held") throws -> [Channel] {
        let other = try rooms.client()
        return try (0..<KeychainLimits.largeUpdatesMax).map { index in
            let channel = try rooms.client()
            try addLarge("\(service) \(index)", over: other)
            // The third value is encrypted once before the turn, since that says how long it is.
            rooms.enclave.sealsUntilStop.withLock { $0 = 3 }
            try sendNewValues(of: "\(service) \(index)", over: channel)
            try #require(rooms.enclave.sealStopped.wait(timeout: .now() + HangLimit.seconds) == .success)
            return channel
        }
    }

    private func updateRequest(of service: String, comment: String) throws -> KeychainRequest {
        let query = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.service: .text(service)]))
        return .update(query, ItemChanges(attributes: ItemAttributes([.comment: .text(comment)])), passwordBytes: nil)
    }

    private func sendUpdate(of service: String, comment: String, over channel: Channel) throws {
        try channel.send(header: try updateRequest(of: service, comment: comment).encoded())
    }

    /// Returns the next reply that does more than report progress.
    private func finalReply(_ channel: Channel) throws -> KeychainReply {
        while true {
            let reply = try KeychainReply(derBytes: try channel.receive(.after(HangLimit.nanoseconds)).header)
            if reply != .queued { return reply }
        }
    }

    private func isFound(_ service: String, comment: String, over channel: Channel) throws -> Bool {
        let attributes = ItemAttributes([.service: .text(service), .comment: .text(comment)])
        try channel.send(header: try KeychainRequest.copyMatching(ItemQuery(kind: .genericPassword, attributes: attributes)).encoded())
        switch try finalReply(channel) {
        case .refused(let refusal) where refusal.reason == .itemNotFound: return false
        case .done: return true
        default: throw Refusal(.internalError)
        }
    }

    private let long = String(repeating: "x", count: 50_000)

    /// Items whose values are small, while the new comment is not.
    private func addMany(over channel: Channel) throws {
        for number in 0..<48 { try add("many", "\(number)", bytes: 1, over: channel) }
    }

    @Test("Two updates of many items hold their rows at once; further ones wait for a turn, and other requests do not")
    func largeUpdatesTakeTurns() throws {
        let waiters = Waiters()
        let rooms = try Rooms(updatesClock: waiters.clock)
        let other = try rooms.client()
        try addMany(over: other)
        let holders = try takeTurns(rooms)
        // One waits, and one hangs up while it waits.
        let waiting = try rooms.client()
        var leaving: Channel? = try rooms.client()
        try sendUpdate(of: "many", comment: long, over: waiting)
        try waiters.next()
        #expect(try KeychainReply(derBytes: try waiting.receive(.after(HangLimit.nanoseconds)).header) == .queued)
        try sendUpdate(of: "many", comment: long + "y", over: try #require(leaving))
        try waiters.next()
        leaving?.shutDown()
        leaving = nil
        // The largest update of one item is none of many, and a short one of many items neither.
        try add("single", "a", bytes: KeychainLimits.valueBytesMax, over: other)
        for (service, comment) in [("single", String(long.prefix(40_000))), ("many", "short")] {
            try sendUpdate(of: service, comment: comment, over: other)
            #expect(try finalReply(other) == .done)
        }
        #expect(try !isFound("many", comment: long, over: other))
        // One turn ends.
        rooms.enclave.sealing.signal()
        #expect(try finalReply(waiting) == .done)
        #expect(try isFound("many", comment: long, over: other))
        rooms.enclave.sealing.signal()
        for channel in holders { #expect(try finalReply(channel) == .done) }
        #expect(try !isFound("many", comment: long + "y", over: other))
        // Every turn is free again.
        let again = try takeTurns(rooms, by: "again")
        for _ in again { rooms.enclave.sealing.signal() }
        for channel in again { #expect(try finalReply(channel) == .done) }
    }

    @Test("No update waits for a turn while another one's user is prompted") func promptsHoldNoTurn() throws {
        let rooms = try Rooms()
        let other = try rooms.client()
        try addMany(over: other)
        rooms.enclave.waits.withLock { $0 = true }
        // Of more updates than there are turns, each prompts, and has more to change than fits without one.
        let prompting = try (0...KeychainLimits.largeUpdatesMax).map { _ in try rooms.client() }
        for (index, channel) in prompting.enumerated() {
            try addLarge("prompts \(index)", over: other)
            try add("prompts \(index)", "presence", bytes: 1, control: Self.presence, over: other)
            try sendUpdate(of: "prompts \(index)", comment: "first", over: channel)
            #expect(try finalReply(channel) == .waitingForUser("vauban approve"))
        }
        try sendUpdate(of: "many", comment: long, over: other)
        #expect(try finalReply(other) == .done)
        for _ in prompting { rooms.enclave.answer.signal() }
        for (index, channel) in prompting.enumerated() {
            #expect(try finalReply(channel) == .done)
            #expect(try isFound("prompts \(index)", comment: "first", over: other))
        }
    }

    @Test("Updates whose items prompt and are large wait for each other, and no other update for them")
    func promptingUpdatesTakeTurns() throws {
        let waiters = Waiters()
        let rooms = try Rooms(updatesClock: waiters.clock)
        let other = try rooms.client()
        try addMany(over: other)
        rooms.enclave.waits.withLock { $0 = true }
        let prompting = try (0...KeychainLimits.promptingUpdatesMax).map { _ in try rooms.client() }
        for (index, channel) in prompting.enumerated() {
            try addLarge("large \(index)", control: Self.presence, over: other)
            try add("large \(index)", "last", bytes: 1, control: Self.passcode, over: other)
            try sendUpdate(of: "large \(index)", comment: "first", over: channel)
            for _ in 0..<3 {
                #expect(try finalReply(channel) == .waitingForUser("vauban approve"))
                rooms.enclave.answer.signal()
            }
            guard index == KeychainLimits.promptingUpdatesMax else {
                // It has the turn, and its last item prompts.
                #expect(try finalReply(channel) == .waitingForUser("vauban approve"))
                continue
            }
            try waiters.next()
        }
        try sendUpdate(of: "many", comment: long, over: other)
        #expect(try finalReply(other) == .done)
        for channel in prompting {
            rooms.enclave.passcodeAnswer.signal()
            #expect(try finalReply(channel) == .done)
            guard channel !== prompting.last else { continue }
            #expect(try finalReply(prompting[1]) == .waitingForUser("vauban approve"))
        }
    }

    @Test("Memory beside a row's ciphertexts counts, and a deletion of many items needs no turn") func everythingHeldCounts() throws {
        let waiters = Waiters()
        let rooms = try Rooms(updatesClock: waiters.clock)
        let other = try rooms.client()
        // As long as a group may be. Their values and attributes together fit without a turn.
        let group = String(repeating: "g", count: 500)
        for number in 0..<700 {
            let attributes = ItemAttributes([.account: .text("\(number)"), .service: .text("first"), .accessGroup: .text(group)])
            let record = ItemRecord(kind: .genericPassword, attributes: attributes)
            try other.send(header: try KeychainRequest.add(record, returns: [], hasData: true).encoded(), secret: SecretBytes([1]))
            #expect(try finalReply(other) == .done)
        }
        let ofGroup = ItemQuery(kind: .genericPassword, attributes: ItemAttributes([.accessGroup: .text(group)]))
        let holders = try takeTurns(rooms)
        let waiting = try rooms.client()
        try sendUpdate(of: "first", comment: "c", over: waiting)
        try waiters.next()
        try other.send(header: try KeychainRequest.delete(ofGroup, atOnce: false).encoded())
        #expect(try finalReply(other) == .done)
        for _ in holders { rooms.enclave.sealing.signal() }
        // In its turn, none of what it read is there any more.
        guard case .refused(let refusal) = try finalReply(waiting) else { throw Refusal(.internalError) }
        #expect(refusal.reason == .itemNotFound)
        for channel in holders { #expect(try finalReply(channel) == .done) }
    }
}
