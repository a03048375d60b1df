import BrowserHost
import Testing
import VaubanBrowserSetup
import VaubanPasswordRules

/// Generated passwords, and which extension may have them.
@Suite struct NewPasswordTests {
    private func count(_ page: String, _ site: String?, _ lengthMin: Int64?, _ lengthMax: Int64?) throws -> Int {
        try NewPassword.form(page: page, site: site, lengthMin: lengthMin, lengthMax: lengthMax).count
    }

    @Test("The page's rules come before the site's, and the field's limits apply to both")
    func orderOfRules() throws {
        #expect(try count("minlength: 30", "maxlength: 8", nil, nil) == 30)
        #expect(try count("  ", "maxlength: 8", nil, nil) == 8)
        #expect(try count("", nil, nil, nil) == 20)
        #expect(try count("", nil, nil, 12) == 12)
        #expect(try count("minlength: 24", nil, nil, 64) == 24)
        #expect(try count("", "minlength: 6", 26, nil) == 26)
    }

    @Test("Rules that contradict themselves are refused")
    func contradictions() {
        #expect(throws: PasswordFormError.self) { try count("minlength: 30", nil, nil, 8) }
        #expect(throws: PasswordFormError.self) { try count("minlength: 2000", nil, nil, nil) }
    }

    @Test("Without rules a password has characters of all classes")
    func standardForm() throws {
        let form = try NewPassword.form(page: "", site: nil, lengthMin: nil, lengthMax: nil)
        #expect(form.alphabet.contains(UInt8(ascii: "a")) && form.alphabet.contains(UInt8(ascii: "-")) && form.bits > 100)
    }

    @Test("Only Vauban's extension is served, in the form in which its browser names it")
    func extensionsAreCompared() {
        let chromium = BrowserSetup.chromiumOrigin
        #expect(BrowserCaller.family(of: [chromium]) == .chromium)
        #expect(BrowserCaller.family(of: ["/a/vauban.browser.json", BrowserSetup.firefoxExtension]) == .firefox)
        for arguments in [
            [], [""], ["chrome-extension://abcdefghijklmnopabcdefghijklmnop/"], [String(chromium.dropLast())], [chromium, chromium],
            ["/a/vauban.browser.json", "other@vauban"], [BrowserSetup.firefoxExtension], ["--help"],
        ] { #expect(BrowserCaller.family(of: arguments) == nil) }
    }
}
