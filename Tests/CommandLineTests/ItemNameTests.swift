import ArgumentParser
import Testing
import VaubanCommands
import VaubanKeychainModel

/// The names of items on the command line (Manual/command-line.md, "Select an item").
@Suite struct ItemNameTests {
    @Test(
        "An item name is split at the first slash",
        arguments: [
            ("github/anna", "github", "anna"), ("github", "github", nil), ("a/b/c", "a", "b/c"), ("github/", "github", ""),
            ("/anna", "", "anna"),
        ] as [(String, String, String?)])
    func splitsAtFirstSlash(word: String, name: String, account: String?) throws {
        let selection = try ItemSelection.parse(["--", word])
        #expect(selection.nameAndAccount.name == name)
        #expect(selection.nameAndAccount.account == account)
        #expect(selection.kinds == [.genericPassword, .internetPassword])
    }

    @Test(
        "A name is also read with its slashes in the service",
        arguments: [
            ("github", []), ("github/anna", ["github/anna "]), ("a/b/c", ["a/b c", "a/b/c "]), ("a/b/", ["a/b ", "a/b/ "]),
        ])
    func slashesInTheService(word: String, readings: [String]) throws {
        let others = try ItemSelection.parse(["--", word]).otherReadings
        #expect(others.map { "\($0.nameAndAccount.name ?? "") \($0.nameAndAccount.account ?? "none")" } == readings)
        #expect(others.allSatisfy { $0.kinds == [.genericPassword] })
    }

    @Test("A URL selects an internet password with all its parts")
    func urlSelectsInternetPassword() throws {
        let selection = try ItemSelection.parse(["--url", "https://anna@Example.com:8443/login"])
        #expect(selection.kinds == [.internetPassword])
        let attributes = selection.attributes(of: .internetPassword)
        #expect(attributes[.server] == .text("example.com"))
        #expect(attributes[.account] == .text("anna"))
        #expect(attributes[.protocolName] == .text("htps"))
        #expect(attributes[.port] == .number(8443))
        #expect(attributes[.path] == .text("/login"))
    }

    @Test(
        "A server in other letters is stored as browsers write it, however the URL does",
        arguments: ["https://bücher.example/", "https://BÜCHER.Example", "https://xn--bcher-kva.example", "https://XN--bcher-kva.example/"])
    func internationalServerIsInASCII(url: String) throws {
        let selection = try ItemSelection.parse(["--url", url])
        #expect(selection.attributes(of: .internetPassword)[.server] == .text("xn--bcher-kva.example"))
        #expect(SourceURL(url)?.server == "xn--bcher-kva.example")
    }

    @Test("A server in ASCII stays as the URL has it, without percent escapes")
    func plainServerStays() throws {
        for (url, server) in [
            ("https://[::1]:4/", "[::1]"), ("https://exa%6Dple.com", "example.com"), ("https://a_b.example", "a_b.example"),
        ] {
            #expect(try ItemSelection.parse(["--url", url]).attributes(of: .internetPassword)[.server] == .text(server))
        }
    }

    @Test(
        "Options that exclude each other are refused",
        arguments: [
            ["a/b", "--service", "c"], ["--service", "a", "--server", "b"], ["--service", "a", "--port", "5"],
            ["a", "--url", "https://b/"],
            ["--server", "a", "--port", "65536"], ["--url", "https://anna:password@example.com/"], ["--url", "example.com"],
        ])
    func exclusiveOptionsAreRefused(words: [String]) {
        #expect(throws: (any Error).self) { try ItemSelection.parse(words) }
    }

    @Test("A server is searched in lowercase and as typed, since programs may have stored it so")
    func serverIsSearchedInBothCases() throws {
        let wanted = try ItemSelection.parse(["--server", "Example.COM"]).wanted
        #expect(wanted.map { $0.attributes[.server] } == [.text("example.com"), .text("Example.COM")])
        #expect(try ItemSelection.parse(["--server", "example.com"]).wanted.count == 1)
    }

    @Test("An empty account matches only items without an account")
    func emptyAccountMatchesNone() throws {
        let selection = try ItemSelection.parse(["github/"])
        #expect(selection.means(item("github", "")))
        #expect(!selection.means(item("github", "anna")))
        #expect(try ItemSelection.parse(["github"]).means(item("github", "anna")))
    }

    @Test("A label that repeats the name follows a rename; any other label stays")
    func labelFollowsName() throws {
        let naming = try ItemNaming("forge/anna")
        let changes = naming.changes(to: item("github", "anna", label: "github/anna"))
        #expect(changes[.service] == .text("forge"))
        #expect(changes[.label] == .text("forge/anna"))
        #expect(naming.changes(to: item("github", "anna", label: "Work"))[.label] == nil)
        #expect(throws: (any Error).self) { try ItemNaming("/anna") }
    }

    @Test("The suggested options select exactly the item, quoted for a shell")
    func optionsAreQuoted() {
        #expect(item("mail box", "o'neil").options == "--service 'mail box' --account 'o'\\''neil' --owner ''")
        #expect(item("github", "anna").name == "github/anna")
        #expect(item("github", "").name == "github")
        #expect(item("a\u{202E}b", "").name == "a\\u{202e}b")
    }

    @Test(
        "Suggestions differ from the word by few slips, the nearest first",
        arguments: [
            ("githb/anna", ["github/anna"]), ("GITHUB/Anna", ["github/anna"]), ("maill", ["mail"]), ("mial", ["mail"]),
            ("quite/another", []),
        ])
    func suggestionsAreNear(word: String, expected: [String]) {
        #expect(Similarity.nearest(to: word, among: ["github/anna", "mail", "bank/me"]) == expected)
    }

    @Test(
        "Commands of other password managers lead to ours",
        arguments: [
            ("rm", "delete"), ("ls", "list"), ("insert", "set"), ("lookup", "get"), ("find-generic-password", "get"), ("delte", "delete"),
            ("lsit", "list"), ("account", "setup"), ("git", "sync"), ("create", "add"), ("open", "unlock"), ("version", "--version"),
            ("seahorse", "list"), ("gnome-keyring-daemon", "enable secret-service"), ("secretive", "ssh new"),
            ("fingerprint", "finger enroll"), ("TouchID", "finger enroll"), ("biometric", "finger enroll"), ("agent", "ssh enable"),
            ("keychain", "list"),
        ])
    func familiarCommandsAreTranslated(word: String, command: String) {
        let advice = FamiliarVerbs.advice(for: word, among: ["delete", "list", "set", "get"])
        #expect(advice == "No command \(word). Did you mean vauban \(command)?")
    }

    @Test(
        "Commands of several words, and of programs that are named, lead to ours",
        arguments: [
            ("ssh-add -l", "ssh-add -l", "ssh list"), ("ssh-add -L", "ssh-add -L", "ssh list --public"),
            ("ssh-add -D", "ssh-add -D", "ssh delete"),
            ("ssh-add key", "ssh-add", "ssh import"), ("item get github", "item get", "show"), ("op read op://a/b", "op read", "get"),
            ("op item create a", "op item create", "set"), ("security find-generic-password -s a", "security find-generic-password", "get"),
            ("secret-tool lookup a b", "secret-tool lookup", "get"), ("secret-tool store --label=a", "secret-tool store", "set"),
            ("keyring get a b", "keyring get", "get"), ("keyring set a b", "keyring set", "set"), ("pass insert a", "pass insert", "set"),
            ("pass a/b", "pass", "get"), ("pass", "pass", "get"), ("pass show a/b", "pass show", "get"),
            ("pass generate a/b", "pass generate", "set --generate"), ("op op op op", "op op op", "get"),
            ("gnome-keyring-daemon --start", "gnome-keyring-daemon", "enable secret-service"),
            ("gnome-keyring-daemon --unlock", "gnome-keyring-daemon --unlock", "unlock"),
        ])
    func familiarProgramsAreTranslated(typed: String, shown: String, command: String) {
        let words = typed.split(separator: " ").map(String.init)
        let advice = FamiliarVerbs.advice(for: words.first, before: Array(words.dropFirst()), among: ["delete", "list", "set", "get"])
        #expect(advice == "No command \(shown). Did you mean vauban \(command)?")
    }

    @Test("A subcommand that does not exist leads to the command that does its work")
    func missingSubcommandsLeadElsewhere() {
        let advice = FamiliarVerbs.advice(for: "delete", among: ["add", "get"], of: "code")
        #expect(advice == "No command code delete. Did you mean vauban delete otpauth:NAME?")
        #expect(FamiliarVerbs.advice(for: "delete", among: ["new", "delete"], of: "ssh") == nil)
        for (word, verb) in [("add", "import"), ("generate", "new")] {
            let advice = FamiliarVerbs.advice(for: word, among: ["new", "import"], of: "ssh")
            #expect(advice == "No command ssh \(word). Did you mean vauban ssh \(verb)?")
        }
        for (command, word, verb) in [
            ("enable", "ssh", "ssh enable"), ("enable", "ssh-agent", "ssh enable"), ("disable", "ssh", "ssh disable"),
            ("disable", "ssh-agent", "ssh disable"), ("enable", "kwallet", "enable secret-service --kwallet"),
            ("disable", "kwallet", "disable secret-service"),
        ] {
            let advice = FamiliarVerbs.advice(for: word, among: ["secret-service", "browser"], of: command)
            #expect(advice == "No command \(command) \(word). Did you mean vauban \(verb)?")
        }
    }

    @Test("A name that begins with a dash leads to two dashes, and no later word is repeated")
    func namesWithADashNeedTwo() {
        let advice = { (words: [String], message: String) in CommandEnd.dashAdvice(for: words, among: ["get", "set"], after: message) }
        let wanted = "For a name that begins with a dash: vauban get -- -dash/x"
        #expect(advice(["get", "-dash/x"], "No item given: name it") == wanted)
        #expect(advice(["get", "--dash/x"], "Unknown option '--dash/x'") == "For a name that begins with a dash: vauban get -- --dash/x")
        #expect(advice(["set", "a/b", "-se/cret"], "No item given: name it") == "For a name that begins with a dash: vauban set -- NAME")
        #expect(advice(["get", "--dash"], "Unknown option '--dash'") == nil)
        #expect(advice(["get", "a", "--other", "--", "-dash/x"], "Unknown option '--other'") == nil)
        #expect(advice(["get", "-dash/x"], "Use --hex or --raw, not both") == nil)
        #expect(advice(["ssh", "-dash/x"], "No item given: name it") == nil)
    }

    @Test(
        "An option that a command does not have is named before the rule that its value breaks, and no value is repeated",
        arguments: [
            (["set", "a/b", "--lenght", "hunter2"], "Unknown option '--lenght'. Did you mean '--length'?"),
            (["set", "a/b", "--zzz=hunter2"], "Unknown option '--zzz'"), (["set", "-s", "a", "--generate", "--", "-x"], nil),
            (["set", "a/b", "-"], nil), (["set", "--port", "-1"], nil),
        ] as [([String], String?)])
    func unknownOptionsAreNamed(given: [String], message: String?) {
        let help = "  --length <n>  The number.\n  -s, --service <service>\n  --this-device/--no-this-device\n  --generate\n  --port <port>"
        #expect(ArgumentAdvice.unknownOption(in: given, known: help) == message)
    }

    @Test("A secret as the value of an option that no command has is not repeated, and the message says what to do")
    func secretOptionsAreRefused() throws {
        let message = try #require(ArgumentAdvice.unknownOption(in: ["set", "a/b", "-whunter2"], known: "--length"))
        #expect(message.hasPrefix("Unknown option '-w'. A secret is never an argument"))
        #expect(!message.contains("hunter2"))
    }

    @Test("A surplus argument of a command that asks for a secret is not repeated")
    func surplusArgumentsAreNotRepeated() throws {
        let advice = { (given: [String], message: String) in
            ArgumentAdvice.surplusArgument(for: given, named: "vauban unlock", after: message)
        }
        let text = try #require(advice(["unlock", "hunter2"], "Unexpected argument 'hunter2'"))
        #expect(text.hasSuffix("Vauban asks for it: vauban unlock") && !text.contains("hunter2"))
        #expect(advice(["unlock", "a", "b"], "2 unexpected arguments: 'a', 'b'") != nil)
        #expect(advice(["code", "add", "a/b", "KEY"], "Unexpected argument 'KEY'") != nil)
        #expect(advice(["status", "x"], "Unexpected argument 'x'") == nil)
        #expect(advice(["unlock"], "Missing value for '--passcode-fd <n>'") == nil)
    }

    @Test("An unknown verb of another program leads to the list of equivalents, and is not repeated")
    func unknownVerbsOfProgramsLeadToTheList() {
        let advice = FamiliarVerbs.advice(for: "security", before: ["delete-keychain"], among: ["get"])
        #expect(advice?.hasPrefix("No command corresponds to this one of security. Those that do: ") == true)
        #expect(advice?.hasSuffix("Manual/coming-from.md") == true)
    }

    @Test("A known command, an option and help need no advice; an unknown word names the list")
    func knownCommandsNeedNoAdvice() {
        for word in ["get", "--version", "help", nil] { #expect(FamiliarVerbs.advice(for: word, among: ["get"]) == nil) }
        #expect(FamiliarVerbs.advice(for: "frobnicate", among: ["get"]) == "No command frobnicate. To list commands: vauban help")
    }

    private func item(_ service: String, _ account: String, label: String? = nil) -> ItemRecord {
        var attributes = ItemAttributes([.service: .text(service), .account: .text(account)])
        if let label { attributes[.label] = .text(label) }
        return ItemRecord(kind: .genericPassword, attributes: attributes)
    }
}
