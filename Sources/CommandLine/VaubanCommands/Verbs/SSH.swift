import ArgumentParser
import VaubanAuthenticationClient
import VaubanLinuxHost
import VaubanRefusal
import VaubanSSHWire
import VaubanUserModel

struct SSH: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssh",
        abstract: "Manage SSH keys and the agent that offers them.",
        discussion: """
            Example:
              vauban ssh new work --require presence    a key that cannot be copied
              vauban ssh import ~/.ssh/id_ed25519       an existing key
              vauban ssh list --public                  lines for authorized_keys
              vauban ssh enable                         use the agent at the next login
              vauban ssh sign-commits work --global     sign git commits with it
            """,
        subcommands: [
            SSHNew.self, SSHImport.self, SSHList.self, SSHDelete.self, SSHHoldAnswer.self, SSHWhere.self, SSHRotate.self,
            SSHSignCommits.self, SSHEnable.self, SSHDisable.self,
        ])
}

struct SSHNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create a key that never leaves the enclave, and print its public key.",
        discussion: """
            Creates an ecdsa-sha2-nistp256 key. It cannot be copied and is lost with this device, so keep a second way in.

            Example:
              vauban ssh new work --require presence
              vauban ssh new work --require presence --hold 5m
            """)

    @Argument(help: "The name of the key.") var name: String
    @Option(
        help: ArgumentHelp(
            "With --require presence: let your answer hold for this time, at most 15m (see vauban ssh hold).", valueName: "duration"))
    var hold: String?
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        try SSHKeyring.check(name: name)
        guard let hold else { return }
        _ = try SSHHolds.hold(hold)
        if protection.require != .presence { throw ValidationError("Use --hold only with --require presence") }
    }

    func run() throws {
        let client = try ServiceClient(user)
        print(try SSHKeyring(client).make(name, protection).line)
        // An earlier key of this name may have left a setting.
        try SSHHolds(client).set(try hold.flatMap(SSHHolds.hold), of: name)
        if protection.require == .presence, try !client.authentication.status().device.passcodeIsSet {
            say("Note: Without a passcode you cannot approve uses of this key. Run: vauban passcode set")
        }
        SSHCertificates(client).reportCrowd()
    }
}

struct SSHImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import a private key or a certificate from a file; the file stays.",
        discussion: """
            ssh-add reads the file, asks for its passphrase if it has one, and includes the certificate beside it. Supports \
            Ed25519, ECDSA and RSA keys (2,048 bits or more).

            If the key is already stored or was created here, stores its certificate in place of an earlier one: FILE-cert.pub, \
            or the file itself if its name ends in .pub.

            Example:
              vauban ssh import ~/.ssh/id_ed25519
              vauban ssh import ~/.ssh/id_rsa --name old --require presence
              vauban ssh import work-cert.pub           a certificate, also a renewed one, for a stored key
            """)

    @Argument(help: ArgumentHelp("The file of the private key or of a certificate.", valueName: "file")) var file: String
    @Option(help: "The name of the key (default: the name of the file, or the stored key).") var name: String?
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    private var wantedName: String { name ?? String(file.split(separator: "/").last ?? "") }

    func validate() throws {
        try SSHKeyring.check(name: wantedName)
        guard SSHCertificates.isPublic(file), !protection.isEmpty else { return }
        throw ValidationError("A certificate has the protection of its key; leave out --when, --require and --this-device")
    }

    func run() throws {
        let client = try ServiceClient(user)
        let keyring = SSHKeyring(client)
        if SSHCertificates.isPublic(file) {
            let certificate = try SSHCertificates.certificate(inFile: file)
            guard let key = try name.map({ try keyring.key($0) }) ?? keyring.key(certificate.publicKey) else {
                throw Refusal(.itemNotFound, "No stored key belongs to this certificate; import its private key first")
            }
            return try renew(certificate, of: key, client)
        }
        if let certificate = try? SSHCertificates.certificate(inFile: "\(file)-cert.pub"),
            let key = try keyring.key(certificate.publicKey), name == nil || name == key.name
        {
            return try renew(certificate, of: key, client)
        }
        try keyring.requireNew(wantedName, orElse: "to store this key under another name: --name NAME")
        let received = try SSHKeyReceiver.keys(inFile: file, mayPrompt: client.user.mayBePrompted)
        print(try keyring.keep(received, as: wantedName, protection).line)
        SSHCertificates(client).reportCrowd()
    }

    private func renew(_ certificate: SSHCertificate, of key: SSHKeyOfUser, _ client: ServiceClient) throws {
        try SSHCertificates(client).set(certificate, of: key)
        print(key.line)
        say("Stored for the key \(SafeText.visible(key.name)): \(certificate.words).")
        SSHCertificates(client).reportCrowd()
    }
}

struct SSHList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List SSH keys.",
        discussion: """
            If ssh or git says that the agent refused, the agent's log has the reason: journalctl --user -u vauban-ssh-agent, or the \
            terminal in which you started it.

            Example:
              vauban ssh list
              vauban ssh list work --public >>~/.ssh/authorized_keys
              vauban ssh list --json
            """)

    @Argument(help: "List only the key with this name.") var name: String?
    @Flag(name: .customLong("public"), help: "Print public keys as lines for authorized_keys.") var showsPublic = false
    @OptionGroup var description: DescriptionOptions
    @OptionGroup var user: UserOptions

    func validate() throws {
        if showsPublic, description.json { throw ValidationError("Use --public or --json, not both; JSON has the public keys, too") }
    }

    func run() throws {
        let client = try ServiceClient(user)
        let keyring = SSHKeyring(client)
        let keys = try keyring.keys().filter { name == nil || $0.name == name }
        if keys.isEmpty {
            if let name { _ = try keyring.key(name) }
            if !description.json { return say("No SSH keys yet. To create one: vauban ssh new NAME") }
        }
        let certificates = try showsPublic ? [:] : SSHCertificates(client).all(of: keys)
        if description.json { return print(try ItemDescription.json(keys.map { SSHKeyDocument($0, certificates[$0.name]) })) }
        guard showsPublic else { return TextColumns(keys.map { $0.fields + [certificates[$0.name]?.words] }).write() }
        for key in keys { print(key.line) }
    }
}

struct SSHDelete: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an SSH key and its certificate.",
        discussion: """
            A key created here is destroyed at once. An imported key can be restored for thirty days, as other items.

            Example:
              vauban ssh delete old
            """)

    @Argument(help: "The name of the key.") var name: String
    @Flag(help: "Skip confirmation.") var yes = false
    @OptionGroup var user: UserOptions

    func run() throws {
        let client = try ServiceClient(user)
        let keyring = SSHKeyring(client)
        let key = try keyring.key(name)
        // In a script, running the command is the confirmation.
        if !yes, let terminal = client.user.terminal {
            terminal.write("\(key.row)\n")
            guard terminal.readWord("Delete it? Type yes to confirm: ") == "yes" else {
                throw Refusal(.cancelled, "the key was not deleted")
            }
        }
        try keyring.delete(name)
    }
}

struct SSHEnable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Start the agent at each login and set SSH_AUTH_SOCK.",
        discussion: """
            Writes three files for systemd under ~/.config, and keeps the agents of GNOME Keyring and gcr, where they are installed, from \
            setting SSH_AUTH_SOCK. If one of the files exists with other content, writes nothing. vauban ssh disable undoes it.

            Example:
              vauban ssh enable
            """)

    func run() throws { try SSHEnabling.current().enable() }
}

struct SSHDisable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Remove the files of vauban ssh enable; keys stay.",
        discussion: """
            Example:
              vauban ssh disable
            """)

    func run() throws { try SSHEnabling.current().disable() }
}
