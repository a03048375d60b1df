internal import VaubanPlainText
package import VaubanSSHWire
internal import VaubanUserModel

/// The reason that a prompt shows: the purpose, the forwarding path, the key and the program. It is never longer than what a prompt shows,
/// so nothing is cut off its end: the user name or the namespace, which a machine to which the agent is forwarded can choose, is quoted
/// and bounded.
package struct PromptReason {
    private let data: SSHSignedData
    private let server: SSHPublicKey?
    private let forwardedTo: [SSHPublicKey]
    private let key: String
    private let program: String
    private let name: (SSHPublicKey) -> String?

    /// - Parameters:
    ///   - server: The server of a login; nil if nothing proves it.
    ///   - forwardedTo: The servers to which the agent was forwarded, the nearest first.
    ///   - name: Returns the name of a server; nil if it is not known.
    package init(
        data: SSHSignedData, server: SSHPublicKey?, forwardedTo: [SSHPublicKey], key: String, program: String,
        name: @escaping (SSHPublicKey) -> String?
    ) {
        self.data = data
        self.server = server
        self.forwardedTo = forwardedTo
        self.key = key
        self.program = program
        self.name = name
    }

    /// The text after "Vauban asks … to".
    package var text: String {
        let serverName = server.flatMap(name)
        let purpose = purpose(at: serverName)
        // Two whole fingerprints would leave too little room for the rest.
        let path = path(isShort: server != nil && serverName == nil)
        func sentence(_ foreign: String, _ key: String) -> String {
            "\(purpose.beginning)\(foreign)\(purpose.end)\(path), with the key \(key), for \(program)"
        }
        let room = max(PromptRequest.reasonCharactersMax - sentence("", "").count, 2 * AgentLimits.promptPartCharactersMin)
        let shownKey = Self.part(key, charactersMax: min(AgentLimits.promptPartCharactersMax, room / 2))
        let left = room - shownKey.unicodeScalars.count
        let foreign = Self.part(purpose.foreign, charactersMax: min(AgentLimits.promptPartCharactersMax, left))
        return PlainLine.of(
            sentence(foreign, shownKey), charactersMax: PromptRequest.reasonCharactersMax, bytesMax: PromptRequest.reasonBytesMax)
    }

    /// Returns the purpose, around the text in it that the other side of the connection chose.
    private func purpose(at serverName: String?) -> (beginning: String, foreign: String, end: String) {
        switch data {
        case .login(let login):
            guard let server else { return ("log in as “", login.user, "”, to a server that is not proven") }
            return ("log in to \(Self.shown(server, name: serverName)) as “", login.user, "”")
        case .message("git"): return ("sign a git commit or tag", "", "")
        case .message("file"): return ("sign a file", "", "")
        case .message(let namespace): return ("sign something for “", namespace, "”")
        case .certificate: return ("sign a certificate for another SSH key", "", "")
        case .unknown: return ("sign something that does not say what it is", "", "")
        }
    }

    /// Returns the way that the request came. The user's own ssh bound the nearest server; those beyond it are what that server says, so
    /// they are counted, and not named.
    private func path(isShort: Bool) -> String {
        guard let nearest = forwardedTo.first else { return "" }
        let further = forwardedTo.count - 1
        let more = further == 0 ? "" : further == 1 ? " and one more server" : " and \(further) more servers"
        return ", through the agent forwarded to \(Self.shown(nearest, name: name(nearest), isShort: isShort))\(more)"
    }

    /// Returns the name of a server, or its fingerprint; with `isShort`, the beginning and the end of that, 96 bits.
    private static func shown(_ server: SSHPublicKey, name: String?, isShort: Bool = false) -> String {
        if let name { return part(name, charactersMax: AgentLimits.promptHostCharactersMax) }
        let fingerprint = Base64.fingerprint(of: server.blob)
        return "the server \(isShort ? "\(fingerprint.prefix(15))…\(fingerprint.suffix(8))" : fingerprint)"
    }

    /// Returns a text of another program, if it is long its beginning and end. It contains no quotation marks, which could pass for the end
    /// of those around it.
    private static func part(_ text: String, charactersMax: Int) -> String {
        let scalars = text.unicodeScalars.map { isQuotationMark($0) ? "'" : $0 }
        return PlainLine.path(String(String.UnicodeScalarView(scalars)), charactersMax: charactersMax)
    }

    private static func isQuotationMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .initialPunctuation, .finalPunctuation: true
        // Marks that Unicode counts among other punctuation.
        default: "\"„″〝〞〟＂".unicodeScalars.contains(scalar)
        }
    }
}
