import ArgumentParser

struct KubernetesCredentialVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kubernetes-credential",
        abstract: "Print a token or a client certificate for kubectl; run by kubectl.",
        discussion: """
            Answers KUBERNETES_EXEC_INFO with an ExecCredential of client.authentication.k8s.io/v1 (or v1beta1). The item's secret is \
            a bearer token, or PEM of a client certificate and its private key.

            Example:
              vauban set k8s/anna
              kubectl config set-credentials anna --exec-api-version=client.authentication.k8s.io/v1 \\
                --exec-command=vauban --exec-arg=kubernetes-credential --exec-arg=k8s/anna --exec-interactive-mode=Never
            """)

    @OptionGroup var selection: ItemSelection
    @OptionGroup var user: UserOptions

    func validate() throws { try selection.requireSomething() }

    func run() throws {
        let info = try ExecInfo.current()
        let client = try ServiceClient(user)
        try client.withSuggestions(selection, otherVerb: "get") {
            let place = info.server.map { SafeText.line($0, max: 150) } ?? "a cluster"
            let secret = try client.secret(
                selection, for: "kubernetes-credential", reason: "log in to \(place) with kubectl, as \(selection.shown)")
            try KubernetesCredential.write(secret, version: info.version)
        }
    }
}
