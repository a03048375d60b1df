internal import VaubanPlainText
internal import VaubanSSHWire

/// The reason that a prompt shows: the purpose, the key, the forwarding path and the program.
struct PromptReason {
    let data: SSHSignedData
    let destination: SessionBindings.Destination
    let forwardedTo: [SSHPublicKey]
    let key: String
    let requester: Requester
    let hosts: HostNames
    /// Returns the places where the user registered keys, as candidates for a hashed server name.
    let places: () -> [String]

    /// The text after "Vauban asks … to".
    var text: String {
        let way = forwardedTo.isEmpty ? "" : ", through the agent forwarded to \(forwardedTo.map(name).joined(separator: " and on to "))"
        return PlainLine.of(
            "\(purpose)\(way), with the key \(shown(key)), for \(requester.description)", charactersMax: 400, bytesMax: 1000)
    }

    private var purpose: String {
        switch data {
        case .login(let login):
            switch destination {
            case .host(let host): "log in to \(name(host)) as \(shown(login.user))"
            case .unproven: "log in as \(shown(login.user)), to a server that is not proven"
            }
        case .message("git"): "sign a git commit or tag"
        case .message("file"): "sign a file"
        case .message(let namespace): "sign something for “\(shown(namespace))”"
        case .certificate: "sign a certificate for another SSH key"
        case .unknown: "sign something that does not say what it is"
        }
    }

    private func name(_ host: SSHPublicKey) -> String {
        hosts.name(of: host.blob, places: places) ?? "the server with the key \(Base64.fingerprint(of: host.blob))"
    }
    private func shown(_ text: String) -> String { PlainLine.of(text, charactersMax: AgentLimits.nameCharactersMax) }
}
