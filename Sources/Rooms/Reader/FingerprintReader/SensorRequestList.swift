/// The open requests, and whose turn it is at the sensor (Specs/reader.md). Of one user, the requests whose user has entered the passcode,
/// such as for an enrollment, come first, in order; then the newest request for a finger, whose user is probably the one at the screen.
/// Older ones wait and continue afterwards. The user whose last turn ended longest ago comes first, so that no user keeps the sensor from
/// the others.
package struct SensorRequestList {
    private var list: [SensorRequest] = []
    /// The users whose turns have ended, the latest last.
    private var served: [UInt32] = []
    /// The user at the sensor, and when the sensor was last touched, or the turn began.
    private var turn: (user: UInt32, since: UInt64)?

    package init() {}

    var isEmpty: Bool { list.isEmpty }

    /// Adds a request. Beyond the limit, drops the oldest one of the user who has the most.
    package mutating func add(_ request: SensorRequest) {
        list.append(request)
        guard list.count > ReaderLimits.requestsMax else { return }
        let counts = Dictionary(grouping: list, by: \.user).mapValues(\.count)
        let most = counts.values.max()
        if let oldest = list.firstIndex(where: { counts[$0.user] == most }) { list.remove(at: oldest) }
    }

    package mutating func remove(_ nonce: [UInt8]) { list.removeAll { $0.nonce == nonce } }

    mutating func removeAll() {
        list = []
        turn = nil
    }

    mutating func removeOld(now: UInt64) { list.removeAll { now - $0.came > ReaderLimits.requestMax } }

    package func contains(_ nonce: [UInt8]) -> Bool { list.contains { $0.nonce == nonce } }

    /// The request to be served next.
    package var first: SensorRequest? {
        let longestAgo = list.map { lastTurn(of: $0.user) }.min()
        let due = list.filter { lastTurn(of: $0.user) == longestAgo }
        return due.first { $0.kind != .finger } ?? due.last
    }

    /// Returns when the user's last turn ended, as a place among the turns of all users; 0 if the user had none.
    private func lastTurn(of user: UInt32) -> Int { served.firstIndex(of: user).map { $0 + 1 } ?? 0 }

    mutating func change(_ nonce: [UInt8], _ change: (inout SensorRequest) -> Void) {
        guard let index = list.firstIndex(where: { $0.nonce == nonce }) else { return }
        change(&list[index])
    }

    // MARK: Turns

    /// Begins the turn of a user, or continues it. While another user waits, a further request of the same user prolongs no turn.
    package mutating func beginTurn(of user: UInt32, now: UInt64) {
        if turn?.user != user || waiting(behind: user).isEmpty { turn = (user: user, since: now) }
    }

    package mutating func recordTouch(now: UInt64) { turn?.since = now }

    /// Ends the turn of a user, who comes after the others from now on.
    package mutating func endTurn(of user: UInt32) {
        served.removeAll { $0 == user }
        served.append(user)
        if served.count > ReaderLimits.requestsMax { served.removeFirst() }
        if turn?.user == user { turn = nil }
    }

    /// When the turn ends unless the sensor is touched before; nil while no other user waits.
    package var turnEnd: UInt64? {
        guard let turn, !waiting(behind: turn.user).isEmpty else { return nil }
        return turn.since + ReaderLimits.turnTime
    }

    /// Returns the requests of other users.
    package func waiting(behind user: UInt32) -> [SensorRequest] { list.filter { $0.user != user } }
}
