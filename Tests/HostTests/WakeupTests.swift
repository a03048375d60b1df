import Testing
import VaubanLinuxHost

@Suite struct WakeupTests {
    @Test("A wait for a condition checks it first, and after each signal") func conditionIsChecked() throws {
        let wakeup = try Wakeup()
        var checks = 0
        let holds = wakeup.wait(until: .max) {
            checks += 1
            wakeup.signal()
            return checks == 3
        }
        #expect(holds)
        #expect(checks == 3)
        let heldAtOnce = wakeup.wait(until: 0) { true }
        #expect(heldAtOnce)
    }

    @Test("A wait for a condition that does not hold ends at the deadline") func conditionIsGivenUp() throws {
        let wakeup = try Wakeup()
        wakeup.signal()
        let holds = wakeup.wait(until: 0) { false }
        #expect(!holds)
    }
}
