import BrowserHost
import Testing
import VaubanBrowserSetup
import VaubanPasswordRules

/// Generated passwords, and which extension may have them.
@Suite struct NewPasswordTests {
    private func count(page: String, site: String?, lengthMin: Int64?, lengthMax: Int64?) throws -> Int {
        try NewPassword.form(page: page, site: site, lengthMin: lengthMin, lengthMax: lengthMax).count
    }

    @Test("The rules of the page take precedence over those of the site, and the limits of the field apply to both")
    func rulesOfThePageTakePrecedence() throws {
        #expect(try count(page: "minlength: 30", site: "maxlength: 8", lengthMin: nil, lengthMax: nil) == 30)
        #expect(try count(page: "  ", site: "maxlength: 8", lengthMin: nil, lengthMax: nil) == 8)
        #expect(try count(page: "", site: nil, lengthMin: nil, lengthMax: nil) == 20)
        #expect(try count(page: "", site: nil, lengthMin: nil, lengthMax: 12) == 12)
        #expect(try count(page: "minlength: 24", site: nil, lengthMin: nil, lengthMax: 64) == 24)
        #expect(try count(page: "", site: "minlength: 6", lengthMin: 26, lengthMax: nil) == 26)
    }

    @Test(
        "Page rules with an error are ignored, and the limits of the field still apply",
        arguments: [
            "max-length: 10", "minlength: 8; max-length: 10", "minlength: 8; required: [abc", "minlength: 30, maxlength: 40",
            "required: uper",
            "allowed: [a-z]; minlength: 30", "minlength: 30;;", "minlength: 30 maxlength: 40", "minlength: 8; required: lower;;;",
        ])
    func pageRulesWithAnErrorAreIgnored(page: String) throws {
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

    @Test("The user's own rules are read from the folder for settings")
    func fileOfUser() {
        #expect(SiteRules.path(settings: "/s", home: "/h") == "/s/vauban/password-rules.json")
        #expect(SiteRules.path(settings: "s", home: "/h") == "/h/.config/vauban/password-rules.json")
        #expect(SiteRules.path(settings: nil, home: "/h") == "/h/.config/vauban/password-rules.json")
        #expect(SiteRules.path(settings: nil, home: nil) == nil)
        #expect(SiteRules.path(settings: nil, home: "/h", file: "a.json") == "/h/.config/vauban/a.json")
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

    @Test("The host serves only Vauban's extension, in the form in which each browser names it")
    func onlyVaubansExtensionIsServed() {
        let chromium = BrowserSetup.chromiumOrigin
        #expect(BrowserCaller.family(of: [chromium]) == .chromium)
        #expect(BrowserCaller.family(of: ["/a/vauban.browser.json", BrowserSetup.firefoxExtension]) == .firefox)
        for arguments in [
            [], [""], ["chrome-extension://abcdefghijklmnopabcdefghijklmnop/"], [String(chromium.dropLast())], [chromium, chromium],
            ["/a/vauban.browser.json", "other@vauban"], [BrowserSetup.firefoxExtension], ["--help"],
        ] { #expect(BrowserCaller.family(of: arguments) == nil) }
    }
}
