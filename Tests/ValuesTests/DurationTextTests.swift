import Testing
import VaubanUserModel

@Suite struct DurationTextTests {
    @Test(
        "A chosen duration reads in the largest unit that expresses it exactly",
        arguments: [
            (0, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (90, "90 seconds"), (300, "5 minutes"),
            (3600, "1 hour"),
            (5400, "90 minutes"), (7200, "2 hours"), (86400, "1 day"), (90000, "25 hours"), (7 * 86400, "7 days"),
        ] as [(Int64, String)])
    func chosenDurationsReadInLargestUnit(seconds: Int64, text: String) {
        #expect(DurationText.exact(seconds) == text)
    }

    @Test(
        "A wait is rounded up to whole minutes",
        arguments: [
            (1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (61, "2 minutes"), (3600, "60 minutes"),
            (.max, "153722867280912931 minutes"),
        ] as [(Int64, String)])
    func waitsAreRoundedUp(seconds: Int64, text: String) {
        #expect(DurationText.wait(seconds) == text)
    }
}
