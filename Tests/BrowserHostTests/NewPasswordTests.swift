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

    @Test(
        "Rules of a page with an error do not count, and the limits of the field do",
        arguments: [
            "max-length: 10", "minlength: 8; max-length: 10", "minlength: 8; required: [abc", "minlength: 30, maxlength: 40",
            "required: uper",
            "allowed: [a-z]; minlength: 30", "minlength: 30;;", "minlength: 30 maxlength: 40", "minlength: 8; required: lower;;;",
        ])
    func faultyRules(page: String) throws {
        #expect(try count(page, nil, nil, 10) == 10)
        #expect(try count(page, nil, 24, nil) == 24)
        #expect(try count(page, nil, nil, nil) == 20)
        #expect(try count(page, "maxlength: 9", nil, 12) == 9)
        #expect(try count(page, "minlength: 6", nil, 12) == 12)
    }

    @Test("The limits of a field narrow the rules of the page, and never widen them")
    func limitsOfField() throws {
        #expect(try count("maxlength: 8", nil, nil, 64) == 8)
        #expect(try count("minlength: 30; maxlength: 40", nil, 35, 64) == 35)
        #expect(try count("maxlength: 16;", nil, nil, 10) == 10)
        #expect(try count("required: [;]; maxlength: 16", nil, nil, 10) == 10)
    }

    @Test("A user's own rules are below the folder for settings")
    func fileOfUser() {
        #expect(SiteRules.path(settings: "/s", home: "/h") == "/s/vauban/password-rules.json")
        #expect(SiteRules.path(settings: "s", home: "/h") == "/h/.config/vauban/password-rules.json")
        #expect(SiteRules.path(settings: nil, home: "/h") == "/h/.config/vauban/password-rules.json")
        #expect(SiteRules.path(settings: nil, home: nil) == nil)
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
