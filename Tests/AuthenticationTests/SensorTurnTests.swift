import FingerprintReader
import Testing

/// Whose request is at the fingerprint reader (Specs/reader.md). Times are those that a test gives, in nanoseconds.
@Suite struct SensorTurnTests {
    private static let turn: UInt64 = 15_000_000_000
    private let anna: UInt32 = 1000
    private let bob: UInt32 = 1001

    @Test("Of one user, enrollments come first, in order, then the newest request for a finger") func orderOfOneUser() {
        var requests = SensorRequestList()
        let fingers = [requests.add(.finger, of: anna, 1), requests.add(.finger, of: anna, 2)]
        let enrollments = [requests.add(.enroll, of: anna, 3), requests.add(.list, of: anna, 4)]
        for nonce in enrollments + fingers.reversed() {
            #expect(requests.first?.nonce == nonce)
            requests.remove(nonce)
            // A turn that nobody else waits for changes nothing.
            requests.endTurn(of: anna)
        }
        #expect(requests.first?.nonce == nil)
    }

    @Test("After one user's enrollment, another user's request goes first, whatever the first user requests next")
    func enrollmentsInLoop() {
        var requests = SensorRequestList()
        let enrollment = requests.add(.enroll, of: bob, 1)
        let finger = requests.add(.finger, of: anna, 2)
        #expect(requests.first?.nonce == enrollment)
        requests.remove(enrollment)
        requests.endTurn(of: bob)
        let another = requests.add(.enroll, of: bob, 3)
        let newest = requests.add(.finger, of: bob, 4)
        #expect(requests.first?.nonce == finger)
        requests.remove(finger)
        requests.endTurn(of: anna)
        #expect(requests.first?.nonce == another)
        requests.remove(another)
        requests.endTurn(of: bob)
        let again = requests.add(.finger, of: anna, 5)
        #expect(requests.first?.nonce == again)
        requests.remove(again)
        #expect(requests.first?.nonce == newest)
    }

    @Test("A turn without a touch ends when another user waits, and not before") func turnWithoutTouch() {
        var requests = SensorRequestList()
        let enrollment = requests.add(.enroll, of: bob, 1)
        requests.beginTurn(of: bob, now: 100)
        #expect(requests.turnEnd == nil)
        let finger = requests.add(.finger, of: anna, 2)
        #expect(requests.turnEnd == 100 + Self.turn)
        requests.recordTouch(now: 500)
        #expect(requests.turnEnd == 500 + Self.turn)
        requests.endTurn(of: bob)
        #expect(requests.turnEnd == nil && requests.first?.nonce == finger && requests.contains(enrollment))
        requests.beginTurn(of: anna, now: 900)
        #expect(requests.turnEnd == 900 + Self.turn)
        requests.endTurn(of: anna)
        #expect(requests.first?.nonce == enrollment)
    }

    @Test("A user's further requests prolong no turn while another user waits") func furtherRequests() {
        var requests = SensorRequestList()
        _ = requests.add(.finger, of: bob, 1)
        requests.beginTurn(of: bob, now: 100)
        _ = requests.add(.finger, of: bob, 2)
        requests.beginTurn(of: bob, now: 200)
        _ = requests.add(.finger, of: anna, 3)
        #expect(requests.turnEnd == 200 + Self.turn)
        _ = requests.add(.finger, of: bob, 4)
        requests.beginTurn(of: bob, now: 300)
        #expect(requests.turnEnd == 200 + Self.turn)
        #expect(requests.waiting(behind: bob).map(\.user) == [anna])
    }

    @Test("A user with too many requests loses the oldest of them, and another user none") func surplus() {
        var requests = SensorRequestList()
        let finger = requests.add(.finger, of: anna, 0)
        let nonces = (1...64).map { requests.add(.enroll, of: bob, UInt8($0)) }
        #expect(requests.contains(finger) && !requests.contains(nonces[0]) && nonces.dropFirst().allSatisfy { requests.contains($0) })
    }
}

extension SensorRequestList {
    /// Adds a request, and returns its nonce.
    fileprivate mutating func add(_ kind: SensorRequest.Kind, of user: UInt32, _ number: UInt8) -> [UInt8] {
        let nonce = [UInt8](repeating: number, count: 32)
        add(SensorRequest(kind, of: user, nonce: nonce))
        return nonce
    }
}
