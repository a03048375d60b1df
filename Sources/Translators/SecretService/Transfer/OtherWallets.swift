internal import VaubanSecretBytes

/// A client's view of KWallet. Nothing there is changed, except that wallets are opened, and those that this process opened are closed
/// again.
struct OtherWallets {
    private let bus: BusConnection
    /// KWallet's unique name, so that no reply comes from another program that takes over its well-known name.
    private let owner: String
    private let path: String

    private static let application = "vauban"

    init(_ bus: BusConnection, owner: String, path: String) {
        self.bus = bus
        self.owner = owner
        self.path = path
    }

    // MARK: Wallets

    /// Returns the names of all wallets, in an order that is the same each time.
    func names() throws -> [String] { try list("wallets").sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }

    /// Returns the name of the wallet that programs use by default.
    func defaultName() throws -> String { try call("networkWallet").first?.text ?? "" }

    func isOpen(_ wallet: String) throws -> Bool { try call("isOpen", [.string(wallet)]).first?.isTrue ?? false }

    func isOpen(_ handle: Int32) throws -> Bool { try call("isOpen", [.signed32(handle)]).first?.isTrue ?? false }

    /// Opens a wallet. KWallet prompts the user if the wallet is closed. Returns nil if the user refused or did not answer.
    func open(_ wallet: String) throws -> Int32? {
        let words: [BusValue] = [.string(wallet), .signed64(0), .string(Self.application)]
        do {
            let answer = try call("open", words, timeout: SecretServiceLimits.otherPromptTime, waitsForUser: true)
            return answer.first?.signed.flatMap { $0 < 0 ? nil : $0 }
        } catch let failure as BusError where failure.isTimeout {
            return nil
        }
    }

    /// Releases a wallet. Closes it if it was closed before and no other program uses it now. KWallet may refuse, which has no effect on
    /// the reading.
    func close(_ handle: Int32, _ wallet: String, wasOpen: Bool) {
        _ = try? call("close", [.signed32(handle), .boolean(false), .string(Self.application)])
        if !wasOpen, let users = try? list("users", [.string(wallet)]), users.isEmpty {
            _ = try? call("close", [.string(wallet), .boolean(true)])
        }
    }

    // MARK: Entries

    func folders(_ handle: Int32) throws -> [String] { try list("folderList", [.signed32(handle), .string(Self.application)]) }

    func entries(_ handle: Int32, folder: String) throws -> [String] {
        try list("entryList", [.signed32(handle), .string(folder), .string(Self.application)])
    }

    /// Returns the type of an entry; nil if it does not exist or has none of KWallet's types.
    func kind(_ handle: Int32, folder: String, name: String) throws -> WalletEntry.Kind? {
        try call("entryType", entry(handle, folder: folder, name: name)).first?.signed.flatMap(WalletEntry.Kind.init)
    }

    /// Returns what an item contains for an entry: the password, the bytes, or the map as JSON.
    func value(_ handle: Int32, folder: String, name: String, _ kind: WalletEntry.Kind) throws -> SharedSecret {
        let member =
            switch kind {
            case .password: "readPassword"
            case .stream: "readEntry"
            case .map: "readMap"
            }
        let answer = try call(member, entry(handle, folder: folder, name: name), secretText: kind == .password ? 0 : nil)
        guard let value = answer.first?.secret else { throw Self.unreadable }
        // A wallet that was closed meanwhile returns an empty value, which is not the entry's.
        if value.bytes.isEmpty, try self.kind(handle, folder: folder, name: name) != kind { throw Self.closed }
        if kind == .password, !value.bytes.withUnsafeBytes(UTF8Text.isString) { throw BusError(.failed, "It is not text in UTF-8") }
        guard kind == .map else { return value }
        guard let json = WalletMap.json(of: value.bytes) else { throw BusError(.failed, "It is not a map that KWallet can read") }
        return SharedSecret(json)
    }

    static let closed = BusError(.failed, "Its wallet was closed meanwhile; open it, and import again")

    private func entry(_ handle: Int32, folder: String, name: String) -> [BusValue] {
        [.signed32(handle), .string(folder), .string(name), .string(Self.application)]
    }

    // MARK: Calls

    private static let unreadable = BusError(.invalidArguments, "Its answer cannot be read")

    private func list(_ member: String, _ arguments: [BusValue] = []) throws -> [String] {
        guard let answer = try call(member, arguments).first, case .array("s", _) = answer else { throw Self.unreadable }
        return answer.texts
    }

    private func call(
        _ member: String, _ arguments: [BusValue] = [], timeout: UInt64 = SecretServiceLimits.providerAnswerMax, secretText: Int? = nil,
        waitsForUser: Bool = false
    ) throws -> [BusValue] {
        try bus.call(
            owner, path: path, interface: WalletInterface.name, member: member, arguments, timeout: timeout, secretText: secretText,
            waitsForUser: waitsForUser)
    }
}
