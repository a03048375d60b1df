import TestSupport
import Testing

extension ExamplesTests {
    @Test(
        "ApplicationPasswordSample opens a value only with the password of a server or an accessory",
        .proves("C-133", "C-152", "C-153", "C-154"))
    func applicationPasswordSample() throws {
        let device = try Device()
        let sample = Program("ApplicationPasswordSample")
        try device.setPasscode()
        // A script represents the program that sends requests to the server, which may stop replying.
        try device.writeScript(
            """
            #!/bin/sh
            [ "$2" = anna ] && [ -e "$1" ] && printf 'what the server answers to anna'

            """, to: "ask-server")
        try device.write("", to: "granted")
        let (server, granted) = (device.path("ask-server"), device.path("granted"))
        try device.check(
            "a value is saved under the server's answer", sample("save", "server", server, granted, "anna", input: "välue 1"),
            says: "Saved.")
        try device.check("it opens while the server answers", sample("load", "server", server, granted, "anna"), says: "välue 1")
        try device.remove("granted")
        try device.check(
            "it does not open when the server stops answering", sample("load", "server", server, granted, "anna"), exits: 1,
            says: "no password to be had")
        try device.check(
            "another answer does not open it, although the keychain is unlocked", sample("load", "server", "/bin/echo", "guess"),
            exits: 1, says: "Status code -25293")
        try device.check(
            "without a password and a prompt agent it does not open either",
            Program("vauban")("get", "org.example.ApplicationPassword/server"), exits: 36, says: "nothing can show the prompt")
        let accessory = device.path("accessory")
        try device.writeRandom(to: "accessory")
        try device.check(
            "a value is saved under a key file on an accessory", sample("save", "accessory", accessory, input: "välue 2"), says: "Saved.")
        try device.check("it opens with the accessory", sample("load", "accessory", accessory), says: "välue 2")
        try device.remove("accessory")
        try device.check(
            "it does not open without the accessory", sample("load", "accessory", accessory), exits: 1, says: "no password to be had")
        try device.writeRandom(to: "accessory")
        try device.check(
            "it does not open with another accessory", sample("load", "accessory", accessory), exits: 1, says: "Status code -25293")
    }

    @Test(
        "RightsSample guards a section and the key of a second factor by rights",
        .proves("C-181", "C-183", "C-196", "C-198", "C-214"))
    func rightsSample() throws {
        let device = try Device()
        let sample = Program("RightsSample")
        try device.setPasscode()
        for file in ["challenge", "other"] { try device.writeRandom(to: file) }
        let (challenge, signature) = (device.path("challenge"), device.path("signature"))
        let (key, keyByHand) = (device.path("key"), device.path("key-by-hand"))
        try device.check(
            "without a prompt agent only the public section is shown", sample("login"), exits: 1,
            says: "The public section is shown.")
        try device.user(
            "a user who logs in sees the protected section until logging out", sample("login"),
            says: "Logged out: the right is notAuthorized.",
            steps: Self.passcode(
                "expect Message:  “see your profile”",
                then: "expect The protected section is shown.", "expect The right is authorized."))
        try device.user(
            "a user who cancels does not see it", sample("login"), exits: 1, says: "Error: authenticationRequired", steps: Self.refusal)
        try device.check(
            "user mode refuses a right for the current fingers", sample("register", key), exits: 1, says: "Status code -4")
        try device.check("the key of a second factor is created", sample("register-passcode", key), says: "Done.")
        try device.check("and never replaced by another", sample("register-passcode", key), exits: 1, says: "Status code -25299")
        try device.check(
            "it signs nothing without a prompt agent", sample("sign", challenge, signature), exits: 1, says: "Not authorized, -1004")
        try device.user(
            "it signs a challenge after the passcode", sample("sign", challenge, signature), says: "Done.",
            steps: Self.passcode("expect Message:  “Biometric authentication is required to proceed”"))
        try device.check(
            "the server verifies the signature", sample("verify", key, challenge, signature), says: "It is the right answer.")
        try device.check(
            "and refuses it for another challenge", sample("verify", key, device.path("other"), signature), says: "It is not.")
        try device.check("an enclave key is created without a right", sample("make", keyByHand), says: "Done.")
        try device.user(
            "one prompt is enough for three signatures by it", sample("sign-by-hand", challenge, signature), says: "Done.",
            steps: Self.passcode("expect Message:  “Authentication is required to proceed”"))
        try device.check(
            "the server verifies a signature by that key", sample("verify", keyByHand, challenge, signature),
            says: "It is the right answer.")
        try device.check("the second factor is removed", sample("remove"), says: "Done.")
        try device.check("and it no longer exists", sample("sign", challenge, signature), exits: 1, says: "Status code -25300")
    }
}
