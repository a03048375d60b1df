import TestSupport
import Testing

/// The programs in `Examples` as their users run them: real processes, the rooms as they are shipped, and a user at a terminal. Each has a
/// device of its own. One after the other, since `make examples` prints what they show.
@Suite(.serialized) struct ExamplesTests {
    /// The steps of a user who enters the passcode, after these and before the others.
    static func passcode(_ before: String..., then after: String...) -> String {
        (before + ["expect Passcode (", "secret \(Device.passcode)"] + after).joined(separator: "\n")
    }

    static let refusal = "expect Passcode (\nkey ctrl-c"

    static let threeWrongPasscodes = ["one", "two", "three"].map { "expect Passcode (\nsecret guess-\($0)" }.joined(separator: "\n")

    @Test(
        "KeychainSample reads a token only with the user, and replaces and deletes it",
        .proves(
            "C-008", "C-009", "C-011", "C-013", "C-014", "C-015", "C-018", "C-020", "C-021", "C-023", "C-025", "C-071", "C-073", "C-074",
            "C-078", "C-080", "C-089", "C-090", "C-097", "C-099", "C-100", "C-103", "C-104"))
    func keychainSample() throws {
        let device = try Device()
        let sample = Program("KeychainSample")
        try device.check(
            "saving an item that needs a passcode is refused", sample("save", input: "too early"), exits: 1, says: "Status code -25293")
        try device.check("loading an item that does not exist fails", sample("load"), exits: 1, says: "Status code -25300")
        try device.setPasscode()
        try device.check("save stores a token that needs the user at each reading", sample("save", input: "tökén 1"), says: "Saved.")
        try device.check("loading it without a prompt agent is refused", sample("load"), exits: 1, says: "Status code -25308")
        try device.user(
            "the prompt shows the program and its message separately, and the passcode releases the token", sample("load"),
            says: "tökén 1",
            steps: """
                expect Program:  KeychainSample (\(sample.path)
                expect Message:  “Authenticate to retrieve your secret!”
                expect Passcode (
                absent tökén
                secret \(Device.passcode)
                """)
        try device.user(
            "the next reading prompts again, and a wrong passcode can be corrected", sample("load"), says: "tökén 1",
            steps: """
                expect Passcode (
                secret winter-pear-8
                expect That was not your passcode
                expect Passcode (
                absent tökén
                secret \(Device.passcode)
                """)
        try device.user("the user can refuse", sample("load"), exits: 1, says: "Status code -128", steps: Self.refusal)
        try device.check("save replaces the token by delete and add", sample("save", input: "tökén 2"), says: "Saved.")
        try device.user("load returns the new token after the passcode", sample("load"), says: "tökén 2", steps: Self.passcode())
        try device.check(
            "save-plain replaces it by a token without access control", sample("save-plain", input: "tökén 3"), says: "Saved.")
        try device.check("load returns that token without a prompt", sample("load"), says: "tökén 3")
        try device.check("a query without return keys only reports that the item exists", sample("exists"), says: "Found.")
        try device.check("delete removes it", sample("delete"), says: "Deleted.")
        try device.check("and it no longer exists", sample("load"), exits: 1, says: "Status code -25300")
        try device.check("deleting it again fails", sample("delete"), exits: 1, says: "Status code -25300")
    }

    @Test("TokenKeeper stores a token with VaubanKeychain, and keeps its access control", .proves("C-019", "C-025", "C-026"))
    func tokenKeeper() throws {
        let device = try Device()
        let sample = Program("TokenKeeper")
        try device.setPasscode()
        try device.check("show fails without a token", sample("show"), exits: 1, says: "There is no token.")
        try device.check("keep stores a token", sample("keep", input: "tökén 1"), says: "Kept.")
        try device.check("show returns it", sample("show"), says: "tökén 1")
        try device.check("keep replaces it by another", sample("keep", input: "tökén 2"), says: "Kept.")
        try device.check("list names the tokens and no secret", sample("list"), says: "anna  “Token of anna”")
        try device.check("forget deletes it", sample("forget"), says: "Forgotten.")
        try device.check("guard stores a token that needs the user", sample("guard", input: "tökén 3"), says: "Kept.")
        try device.check(
            "showing it without a prompt agent fails and says what to run", sample("show"), exits: 1, says: "vauban approve")
        try device.user(
            "the prompt shows the reason, and the passcode releases the token", sample("show"), says: "tökén 3",
            steps: """
                expect Message:  “show the token of anna”
                expect Passcode (
                absent tökén
                secret \(Device.passcode)
                """)
        try device.user("the user can refuse", sample("show"), exits: 2, says: "You said no.", steps: Self.refusal)
        try device.user("keep replaces it after the passcode", sample("keep"), says: "Kept.", steps: Self.passcode("send tökén 4"))
        try device.check("the new token has the same access control", sample("show"), exits: 1, says: "vauban approve")
        try device.check("exists finds it without opening it", sample("exists"), says: "There is one.")
        try device.check("forget deletes it without a prompt", sample("forget"), says: "Forgotten.")
        try device.check("and it no longer exists", sample("forget"), exits: 1, says: "There is no token.")
    }
}
