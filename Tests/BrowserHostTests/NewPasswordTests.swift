import BrowserHost
import Testing
import VaubanBrowserSetup
import VaubanPasswordRules

/// Generated passwords, and which extension may have them.
@Suite struct NewPasswordTests {
    private func count(page: String, site: String?, lengthMin: Int64?, lengthMax: Int64?) throws -> Int {
        try NewPassword.form(page: page, site: site, lengthMin: lengthMin, lengthMax: lengthMax).count
    }

    @Test("The page's rules come before the site's, and the field's limits apply to both")
    func orderOfRules() throws {
        #expect(try count(page: "minlength: 30", site: "maxlength: 8", lengthMin: nil, lengthMax: nil) == 30)
        #expect(try count(page: "  ", site: "maxlength: 8", lengthMin: nil, lengthMax: nil) == 8)
        #expect(try count(page: "", site: nil, lengthMin: nil, lengthMax: nil) == 20)
        #expect(try count(page: "", site: nil, lengthMin: nil, lengthMax: 12) == 12)
        #expect(try count(page: "minlength: 24", site: nil, lengthMin: nil, lengthMax: 64) == 24)
        #expect(try count(page: "", site: "minlength: 6", lengthMin: 26, lengthMax: nil) == 26)
    }

    @Test(
        "Rules of a page with an error do not count, and the limits of the field do",
        arguments: [
            "max-length: 10", "minlength: 8; max-length: 10", "minlength: 8; required: [abc", "minlength: 30, maxlength: 40",
            "required: uper",
            "allowed: [a-z]; minlength: 30", "minlength: 30;;", "minlength: 30 maxlength: 40", "minlength: 8; required: lower;;;",
        ])
    func faultyRules(page: String) throws {
        #expect(try count(page: page, site: nil, lengthMin: nil, lengthMax: 10) == 10)
        #expect(try count(page: page, site: nil, lengthMin: 24, lengthMax: nil) == 24)
        #expect(try count(page: page, site: nil, lengthMin: nil, lengthMax: nil) == 20)
        #expect(try count(page: page, site: "maxlength: 9", lengthMin: nil, lengthMax: 12) == 9)
        #expect(try count(page: page, site: "minlength: 6", lengthMin: nil, lengthMax: 12) == 12)
    }

    @Test("The limits of a field narrow the rules of the page, and never widen them")
    func limitsOfField() throws {
        #expect(try count(page: "maxlength: 8", site: nil, lengthMin: nil, lengthMax: 64) == 8)
        #expect(try count(page: "minlength: 30; maxlength: 40", site: nil, lengthMin: 35, lengthMax: 64) == 35)
        #expect(try count(page: "maxlength: 16;", site: nil, lengthMin: nil, lengthMax: 10) == 10)
        #expect(try count(page: "required: [;]; maxlength: 16", site: nil, lengthMin: nil, lengthMax: 10) == 10)
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
        #expect(throws: PasswordFormError.self) { try count(page: "minlength: 30", site: nil, lengthMin: nil, lengthMax: 8) }
        #expect(throws: PasswordFormError.self) { try count(page: "minlength: 2000", site: nil, lengthMin: nil, lengthMax: nil) }
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
