import TestSupport
import Testing

extension ExamplesTests {
    @Test(
        "AuthenticationSample reads a password after authentication, and deletes it after a rejection",
        .proves("C-103", "C-113", "C-115", "C-116", "C-123", "C-136", "C-144", "C-145"))
    func authenticationSample() throws {
        let device = try Device()
        let sample = Program("AuthenticationSample")
        try device.check(
            "canEvaluatePolicy reports that no policy can succeed", sample("check"), exits: 1, says: "biometry or passcode: no, -5")
        try device.setPasscode()
        try device.check(
            "without a prompt agent no policy can succeed", sample("check"), exits: 1, says: "biometry or passcode: no, -1004")
        try device.user(
            "at a terminal the passcode policy can succeed and biometry cannot", sample("check"), says: "biometry or passcode: yes")
        try device.check("store keeps a password without access control", sample("store", input: "pässword"), says: "Stored.")
        try device.check(
            "without a prompt agent nothing is decided and the password stays", sample("read"), exits: 1,
            says: "Authentication is not available, -1004")
        try device.user(
            "the user who authenticates reads it", sample("read"), says: "pässword",
            steps: Self.passcode("expect Program:  AuthenticationSample", "expect Message:  “Please authenticate”"))
        try device.user(
            "a user who cancels does not read it, and the password stays", sample("read"), exits: 1, says: "Not authenticated, -2",
            steps: Self.refusal)
        try device.user(
            "three wrong passcodes delete the password", sample("read"), exits: 1,
            says: "The password was deleted, since authentication failed, -1", steps: Self.threeWrongPasscodes)
        try device.user(
            "afterwards the user authenticates and the password is gone", sample("read"), exits: 1, says: "Status code -25300",
            steps: Self.passcode())
        try device.user(
            "after a rejection the application asks for the password itself", sample("open"), says: "The mailbox is open: nëw",
            steps: """
                expect Message:  “open the mailbox”
                \(Self.threeWrongPasscodes)
                expect The stored password is gone, -1. Type the password:
                send nëw
                """)
        try device.user(
            "and keeps it, so that the user who authenticates need not type it", sample("open"), says: "The mailbox is open: nëw",
            steps: Self.passcode())
    }

    @Test("OccasionsSample prompts on each occasion with its own reason, and only then acts", .proves("C-100", "C-134"))
    func occasionsSample() throws {
        let device = try Device()
        let sample = Program("OccasionsSample")
        try device.setPasscode()
        // The prompt shows the reason, and the program prints the text only after the passcode.
        func occasion(
            _ what: String, _ command: Command, reason: String, says text: String, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            try device.user(
                what, command, says: text,
                steps: """
                    expect Message:  “\(reason)”
                    expect Passcode (
                    absent \(text)
                    secret \(Device.passcode)
                    """, sourceLocation: sourceLocation)
        }
        try occasion("an application verifies its owner", sample("owner"), reason: "see that it is you", says: "Good day.")
        try occasion(
            "a parent gives a child more time", sample("parents"), reason: "give your child another hour", says: "Another hour it is.")
        try occasion("a feature is switched on", sample("enable"), reason: "switch on payments by touch", says: "Payments are on.")
        try occasion(
            "the owner signs in without typing a password", sample("sign-in"), reason: "sign in to your account",
            says: "Signed in with tökén.")
        try device.user(
            "after the password, authentication is the second factor", sample("second"), says: "Signed in, twice over.",
            steps: Self.passcode("send pässword", "expect Message:  “finish signing in”"))
        try device.check(
            "after a wrong password there is no prompt", sample("second", input: "guess"), exits: 1, says: "That is not the password.")
        try occasion("sensitive data is shown", sample("view"), reason: "show your diary", says: "dear dïary")
        try occasion(
            "the prompt names the operation to confirm", sample("confirm", "25", "to", "anna"), reason: "pay 25 to anna",
            says: "Paid 25 to anna.")
        try device.user(
            "an operation that the user cancels is not performed", sample("confirm", "9000", "to", "mallory"), exits: 1,
            says: "Nothing is done", steps: "expect Message:  “pay 9000 to mallory”\n\(Self.refusal)")
        try occasion("the application prompts when it starts", sample("start"), reason: "open the app", says: "Open.")
        try device.check("without a prompt agent nothing is performed", sample("owner"), exits: 1, says: "Nothing is done")
    }
}
