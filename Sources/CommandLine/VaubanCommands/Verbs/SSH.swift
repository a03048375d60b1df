import ArgumentParser
import VaubanLinuxHost
import VaubanRefusal

struct SSH: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes, imports and lists keys for SSH, and has an agent offer them.",
        discussion: """
            Example:
              vauban ssh new work --require presence    a key that cannot be copied, and asks for you
              vauban ssh import ~/.ssh/id_ed25519       a key that you have
              vauban ssh list --public                  for a server's authorized_keys
              vauban ssh enable                         ssh and git find the agent from the next login on
            """,
        subcommands: [SSHNew.self, SSHImport.self, SSHList.self, SSHDelete.self, SSHEnable.self, SSHDisable.self])
}

struct SSHNew: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Makes a key in the enclave, which it never leaves, and prints its public half.",
        discussion: """
            It is an ecdsa-sha2-nistp256 key. Nobody can copy it, you neither: it is lost with this device, so have a second way in.

            Example:
              vauban ssh new work --require presence
            """)

    @Argument(help: "What the key is called.") var name: String
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    func validate() throws { try SSHKeyring.check(name: name) }

    func run() throws {
        let keyring = SSHKeyring(try Session(user))
        print(try keyring.make(name, protection).line)
    }
}

struct SSHImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Keeps a copy of a private key that lies in a file; the file stays.",
        discussion: """
            ssh-add reads the file, asks for its passphrase where it has one, and takes the certificate along that lies beside it. \
            Ed25519, ECDSA and RSA keys (2,048 bits and more) are kept.

            Example:
              vauban ssh import ~/.ssh/id_ed25519
              vauban ssh import ~/.ssh/id_rsa --name old --require presence
            """)

    @Argument(help: ArgumentHelp("The private key's file.", valueName: "file")) var file: String
    @Option(help: "What the key is to be called; otherwise as its file.") var name: String?
    @OptionGroup var protection: ProtectionOptions
    @OptionGroup var user: UserOptions

    private var wantedName: String { name ?? String(file.split(separator: "/").last ?? "") }

    func validate() throws { try SSHKeyring.check(name: wantedName) }

    func run() throws {
        let keyring = SSHKeyring(try Session(user))
        try keyring.requireNew(wantedName)
        let received = try SSHKeyReceiver.keys(inFile: file)
        print(try keyring.keep(received, as: wantedName, protection).line)
    }
}

struct SSHList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys for SSH.",
        discussion: """
            Example:
              vauban ssh list
              vauban ssh list work --public >>~/.ssh/authorized_keys
            """)

    @Argument(help: "Only the key with this name.") var name: String?
    @Flag(name: .customLong("public"), help: "The public halves, as authorized_keys has them.") var showsPublic = false
    @OptionGroup var user: UserOptions

    func run() throws {
        let keys = try SSHKeyring(try Session(user)).keys().filter { name == nil || $0.name == name }
        if keys.isEmpty, name != nil { throw Refusal(.itemNotFound) }
        for key in keys { print(showsPublic ? key.line : key.row) }
    }
}

struct SSHDelete: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a key for SSH, and its certificate.",
        discussion: """
            A key that was made here is gone at once and for good; an imported one can be restored for thirty days, as other items.

            Example:
              vauban ssh delete old
            """)

    @Argument(help: "The key's name.") var name: String
    @Flag(help: "Do not ask first.") var yes = false
    @OptionGroup var user: UserOptions

    func run() throws {
        let session = try Session(user)
        let keyring = SSHKeyring(session)
        guard let key = try keyring.keys().first(where: { $0.name == name }) else { throw Refusal(.itemNotFound) }
        // A script that deletes has said what it means.
        if !yes, let terminal = session.user.terminal {
            terminal.write("\(key.row)\n")
            guard terminal.readWord("Delete it? Type yes (anything else cancels): ") == "yes" else {
                throw Refusal(.cancelled, "the key was left as it was")
            }
        }
        try keyring.delete(name)
    }
}

struct SSHEnable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Has the agent run at each login, and programs find it by SSH_AUTH_SOCK.",
        discussion: """
            It writes three files below ~/.config, for systemd. A file of that name with other content is left as it is, and then \
            nothing is written. vauban ssh disable removes them.

            Example:
              vauban ssh enable
            """)

    func run() throws { try SSHEnabling.current().enable() }
}

struct SSHDisable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Removes what vauban ssh enable wrote; the keys stay.",
        discussion: """
            Example:
              vauban ssh disable
            """)

    func run() throws { try SSHEnabling.current().disable() }
}
