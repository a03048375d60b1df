import SSHAgent
import Testing
import VaubanSSHWire
import VaubanUserModel

/// The reason in the prompts of the SSH agent (Specs/ssh-agent.md, "The prompt"). Whatever the other side chooses, the path of the request,
/// the key and the program are there.
@Suite struct PromptReasonTests {
    private static func server(_ number: UInt8) -> SSHPublicKey { SSHPublicKey(.ed25519, .ed25519([UInt8](repeating: number, count: 32))) }

    private static let names = [server(1): "git.example.org", server(2): "build-3"]

    /// The longest name of a program, with the highest number of a process.
    private static let longestProgram = "a-program-of-15 (process 4194304)"

    private static func login(_ user: String) -> SSHSignedData {
        SSHSignedData(
            SSHWriter.of { writer in
                writer.string([UInt8](repeating: 5, count: 32))
                writer.byte(50)
                for text in [user, "ssh-connection", "publickey"] { writer.text(text) }
                writer.byte(1)
                writer.text("ssh-ed25519")
                writer.string(server(9).blob)
            })
    }

    private static func message(_ namespace: String) -> SSHSignedData {
        SSHSignedData(
            Array("SSHSIG".utf8)
                + SSHWriter.of { writer in
                    writer.text(namespace)
                    writer.string([])
                    writer.text("sha512")
                    writer.string([UInt8](repeating: 0, count: 64))
                })
    }

    private static func text(
        _ data: SSHSignedData, at server: SSHPublicKey? = nil, forwardedTo: [SSHPublicKey] = [], key: String = "work",
        program: String = "ssh (process 4711)", names: [SSHPublicKey: String] = names
    ) -> String {
        PromptReason(data: data, server: server, forwardedTo: forwardedTo, key: key, program: program, name: { names[$0] }).text
    }

    @Test("A prompt names the purpose, the forwarding path, the key and the program") func promptNamesItsParts() {
        let end = "with the key work, for ssh (process 4711)"
        #expect(Self.text(Self.login("git"), at: Self.server(1)) == "log in to git.example.org as “git”, \(end)")
        #expect(Self.text(Self.login("git")) == "log in as “git”, to a server that is not proven, \(end)")
        #expect(Self.text(Self.message("git")) == "sign a git commit or tag, \(end)")
        #expect(Self.text(Self.message("file")) == "sign a file, \(end)")
        #expect(Self.text(Self.message("mail")) == "sign something for “mail”, \(end)")
        #expect(Self.text(.certificate) == "sign a certificate for another SSH key, \(end)")
        #expect(Self.text(.unknown) == "sign something that does not say what it is, \(end)")
        let path = "through the agent forwarded to build-3"
        #expect(
            Self.text(Self.login("git"), at: Self.server(1), forwardedTo: [Self.server(2)])
                == "log in to git.example.org as “git”, \(path), \(end)")
        #expect(
            Self.text(Self.login("git"), at: Self.server(1), forwardedTo: [Self.server(2), Self.server(3)])
                == "log in to git.example.org as “git”, \(path) and one more server, \(end)")
        #expect(
            Self.text(.unknown, forwardedTo: [2, 3, 4].map(Self.server))
                == "sign something that does not say what it is, \(path) and 2 more servers, \(end)")
    }

    @Test("A server without a name has its whole fingerprint, and one that forwards to another one without a name its ends")
    func serversWithoutNamesHaveFingerprints() throws {
        let alone = Self.text(Self.login("git"), at: Self.server(7))
        let whole = try #require(alone.firstMatch(of: #/log in to the server (SHA256:[A-Za-z0-9+\/]{43}) as “git”,/#)).1
        let forwarded = Self.text(.unknown, forwardedTo: [Self.server(7)])
        #expect(forwarded.contains("through the agent forwarded to the server \(whole), with"))
        let both = Self.text(Self.login("git"), at: Self.server(7), forwardedTo: [Self.server(7)])
        #expect(both.contains("log in to the server \(whole) as “git”"))
        #expect(both.contains("forwarded to the server \(whole.prefix(15))…\(whole.suffix(8)), with the key work"))
    }

    /// Names of servers, 36 characters of which are shown, user names and key names are as long as they can be.
    @Test("No text of the other side pushes the path, the key or the program off the prompt", arguments: [UInt8?.none, 1, 7], [0, 1, 15])
    func longestTextsLeaveRoom(_ server: UInt8?, _ hops: Int) {
        let names = [Self.server(1): String(repeating: "host.", count: 40) + "end", Self.server(2): String(repeating: "hop-", count: 40)]
        let key = "first-" + String(repeating: "k", count: 90) + "-last"
        for (nearest, foreign) in [(UInt8(2), "anna:"), (8, "äöü"), (8, "\u{1F980}"), (2, "\u{202e}"), (2, "a\u{301}"), (8, "”")] {
            let long = "anna" + String(repeating: foreign, count: 500) + "last"
            let path = hops == 0 ? [] : [Self.server(nearest)] + (1..<hops).map { _ in Self.server(9) }
            for data in [Self.login(long), Self.message(long), .certificate, .unknown] {
                let text = Self.text(
                    data, at: server.map(Self.server), forwardedTo: path, key: key, program: Self.longestProgram, names: names)
                #expect(text.count <= PromptRequest.reasonCharactersMax && text.utf8.count <= PromptRequest.reasonBytesMax)
                #expect(text.hasSuffix("-last, for \(Self.longestProgram)") && text.contains(", with the key first"))
                #expect(hops == 0 || text.contains(", through the agent forwarded to "))
                #expect(hops < 2 || text.contains(" and 14 more servers, with the key"))
                #expect(text.contains("anna") == (data != .certificate && data != .unknown))
                #expect(!text.contains("anna") || text.contains("last”"))
            }
        }
    }

    @Test("A user name cannot close its quotation marks") func userNameStaysWithinItsQuotes() {
        let end = ", with the key work, for ssh (process 4711)"
        #expect(Self.text(Self.login("a”, with “b\"c„d＂"), at: Self.server(1)) == "log in to git.example.org as “a', with 'b'c'd'”\(end)")
        #expect(Self.text(.unknown, key: "k”").hasSuffix("with the key k', for ssh (process 4711)"))
    }

    @Test("Of long names the beginning and the end are shown") func longNamesHaveBothEnds() {
        let user = "anna" + String(repeating: "x", count: 100) + "@example.org"
        let text = Self.text(Self.login(user), at: Self.server(1))
        #expect(text.contains("as “anna") && text.contains("…") && text.contains("@example.org”, with the key work"))
        let server = "github.com." + String(repeating: "x", count: 100) + ".example.org"
        #expect(Self.text(Self.login("git"), at: Self.server(3), names: [Self.server(3): server]).contains(".example.org as “git”"))
    }
}
