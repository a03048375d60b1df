internal import VaubanKeychainModel
internal import VaubanPlainText
internal import VaubanRefusal

/// Thrown when a call needs the user's consent to items that another program stored. It is not an error: the call gets its reply after the
/// prompt.
struct WalletConsent: Error {
    let place: ItemPlace
}

/// KWallet's methods for whole wallets. A wallet is a collection; its name is the collection's label.
extension SecretServiceObjects {
    /// KWallet's return value for a refused call.
    static let walletRefusal: Int32 = -1
    /// The name of the wallet of the user's own programs.
    static let defaultWallet = "kdewallet"

    /// Returns the results of a call; nil if the reply follows later.
    func walletMethod(_ call: BusCall, from client: BusClient) throws -> [BusValue]? {
        switch call.member {
        case "open":
            try openWallet(call, for: client) { [send, number = call.number] in send(.reply(number, [.signed32($0)])) }
            return nil
        case "openAsync":
            let transaction = walletWaits.transaction()
            send(.reply(call.number, [.signed32(transaction)]))
            let finish: @Sendable (Int32) -> Void = { [send, path = call.path] in
                let values: [BusValue] = [.signed32(transaction), .signed32($0)]
                send(.signal(path: path, interface: WalletInterface.name, member: "walletAsyncOpened", values, destination: client.name))
            }
            do { try openWallet(call, for: client, finish) } catch { finish(Self.walletRefusal) }
            return nil
        default:
            do { return try walletAnswer(call, from: client) } catch let needed as WalletConsent {
                try promptForConsent(needed, call, from: client)
                return nil
            }
        }
    }

    /// Prompts for consent to an entry that another program stored, then replies to the call.
    private func promptForConsent(_ needed: WalletConsent, _ call: BusCall, from client: BusClient) throws {
        try walletWaits.begin(for: client) { [self] wait in
            do {
                let place = needed.place
                _ = try access.promptForConsent(to: client, wait) {
                    [try ForeignItem(try keychainItems.item(place.identifier, in: place.collection), at: place)]
                }
                send(.reply(call.number, try walletAnswer(call, from: client)))
            } catch let failure as BusError {
                send(.failure(call.number, failure))
            } catch let refusal as Refusal {
                send(.failure(call.number, BusError(refusal)))
            } catch {
                send(.failure(call.number, BusError(.accessDenied, "Another program stored the entry")))
            }
        }
    }

    private func walletAnswer(_ call: BusCall, from client: BusClient) throws -> [BusValue] {
        let arguments = call.arguments
        let name = arguments.first?.text ?? ""
        switch call.member {
        case "isEnabled": return [.boolean(true)]
        case "networkWallet", "localWallet": return [.string(Self.defaultWallet)]
        case "wallets": return [.strings(try walletNames())]
        // The client cannot choose a file, since wallets are stored in the keychain.
        case "openPath", "openPathAsync": return [.signed32(Self.walletRefusal)]
        case "isOpen":
            if case .signed32(let number)? = arguments.first {
                return [.boolean(try (try? walletHandles.handle(number, of: client)) != nil && !keychainLock.isLocked)]
            }
            return [.boolean(!walletHandles.all { $0.wallet == name }.isEmpty)]
        case "users":
            let applications = walletHandles.all { $0.wallet == name && (!access.isLimited(client) || $0.client === client) }
            return [.strings(Set(applications.map(\.application)).sorted())]
        case "close": return [.signed32(closeWallet(arguments, for: client))]
        case "closeAllWallets":
            walletHandles.close { !access.isLimited(client) || $0.client === client }
            return []
        case "disconnectApplication":
            let application = arguments[1].text ?? ""
            let closed = walletHandles.close {
                $0.wallet == name && $0.application == application && (!access.isLimited(client) || $0.client === client)
            }
            if !closed.isEmpty { walletsSignal("applicationDisconnected", [.string(name), .string(application)]) }
            return [.boolean(!closed.isEmpty)]
        case "folderDoesNotExist", "keyDoesNotExist":
            return [
                .boolean(try isAbsent(wallet: name, folder: arguments[1].text ?? "", name: arguments.count > 2 ? arguments[2].text : nil))
            ]
        case "sync", "reconfigure": return []
        case "deleteWallet":
            throw BusError(.notSupported, "Programs cannot delete a wallet. Delete its items with vauban delete")
        case "changePassword": throw BusError(.notSupported, "The wallets have the keychain's passcode: vauban passcode change")
        case "pamOpen":
            throw BusError(.notSupported, "Programs cannot open a wallet with a password. Unlock the keychain with vauban unlock")
        default:
            var handle = try walletHandles.handle(arguments.first?.signed, of: client)
            handle.deadline = call.arrival + SecretServiceLimits.secretTime
            guard try !keychainLock.isLocked else { throw BusError(.isLocked, "The keychain is locked") }
            return try folderMethod(call, handle)
        }
    }

    // MARK: Opening and closing

    /// Opens a wallet, and calls `finish` with its handle, or with a negative number if the user refused or nothing can show the prompt.
    /// Waits for the user on a separate thread.
    private func openWallet(_ call: BusCall, for client: BusClient, _ finish: @escaping @Sendable (Int32) -> Void) throws {
        let name = call.arguments[0].text ?? ""
        let application = PlainLine.of(call.arguments[2].text ?? "", charactersMax: SecretServiceLimits.walletNameBytesMax)
        guard !name.isEmpty, name.utf8.count <= SecretServiceLimits.walletNameBytesMax else { return finish(Self.walletRefusal) }
        guard try keychainLock.isLocked else { return finish(try opened(name, application, for: client)) }
        try walletWaits.begin(for: client) { [self, arrival = call.arrival] wait in
            let outcome = keychainLock.unlock(for: client, wait, since: arrival, lasting: AgentWait.longTime, send)
            guard case .unlocked = outcome else { return finish(Self.walletRefusal) }
            finish((try? opened(name, application, for: client)) ?? Self.walletRefusal)
        }
    }

    private func opened(_ name: String, _ application: String, for client: BusClient) throws -> Int32 {
        let collection = try walletCollection(name) ?? createCollection(label: name, for: client)
        let number = try walletHandles.open(name, collection: collection, application: application, for: client)
        walletsSignal("walletOpened", [.string(name)], to: [client])
        return number
    }

    /// Closes a wallet for a client. Returns 0 if the wallet is now closed, 1 if others still use it, and a negative number if it was not
    /// open.
    private func closeWallet(_ arguments: [BusValue], for client: BusClient) -> Int32 {
        let isForced = arguments[1].isTrue
        if let number = arguments[0].signed {
            guard let handle = try? walletHandles.handle(number, of: client) else { return Self.walletRefusal }
            guard isForced else { return walletHandles.release(handle) ? 0 : 1 }
            walletHandles.close { $0.number == number }
            return 0
        }
        let name = arguments[0].text ?? ""
        let open = walletHandles.all { $0.wallet == name }
        guard !open.isEmpty else { return Self.walletRefusal }
        guard isForced || open.allSatisfy({ $0.client === client }) else { return 1 }
        walletHandles.close { $0.wallet == name && ($0.client === client || !access.isLimited(client)) }
        return walletHandles.all { $0.wallet == name }.isEmpty ? 0 : 1
    }

    // MARK: Names

    /// Returns the names of all wallets. Before the first unlock, only the default wallet is known.
    private func walletNames() throws -> [String] {
        do throws(Refusal) {
            let own = try defaultCollection()
            let others = try records.all().filter { $0.identifier != own && $0.label != Self.defaultWallet && !$0.label.isEmpty }.map(
                \.label)
            return [Self.defaultWallet] + Set(others).sorted()
        } catch {
            guard error.reason == .beforeFirstUnlock else { throw error }
            return [Self.defaultWallet]
        }
    }

    /// Returns the collection of a wallet: the first one with this label, or nil. The default wallet is the collection that an import from
    /// KWallet creates, otherwise one that has its name as the label, otherwise the default collection.
    private func walletCollection(_ name: String) throws(Refusal) -> String? {
        if name == Self.defaultWallet { return try defaultCollection() }
        return try records.all().first { $0.label == name }?.identifier
    }

    private func defaultCollection() throws(Refusal) -> String {
        let all = try records.all()
        // The identifier takes precedence over the label, which programs can change. A sandboxed application can create a collection with
        // neither.
        let own = all.first { $0.identifier == Self.defaultWallet } ?? all.first { $0.label == Self.defaultWallet }
        if let own { return own.identifier }
        guard let target = try records.target(ofAlias: CollectionRecords.defaultAlias), target != MemoryItems.collection else {
            return KeychainItems.login
        }
        return target
    }

    /// Returns the name of a collection's wallet.
    func walletName(of collection: String) -> String {
        if (try? defaultCollection()) == collection { return Self.defaultWallet }
        return (try? records.collection(collection))?.label ?? collection
    }

    /// Whether a folder or an entry definitely does not exist. In doubt the client is told that it may exist, opens the wallet, and then
    /// gets the exact answer.
    private func isAbsent(wallet: String, folder: String, name: String?) throws -> Bool {
        do throws(Refusal) {
            guard let collection = try walletCollection(wallet) else { return true }
            if name == nil {
                guard !WalletFolders.standard.contains(folder), try !walletFolders.contain(folder, in: collection) else { return false }
            }
            return try keychainItems.hasNone(
                having: [WalletEntry.pair(folder: folder)] + (name.map { [WalletEntry.pair(name: $0)] } ?? []), in: collection)
        } catch {
            guard error.reason == .beforeFirstUnlock || error.reason == .locked else { throw error }
            return false
        }
    }

    // MARK: Signals

    func walletsSignal(_ member: String, _ values: [BusValue], to users: [BusClient] = []) {
        walletHandles.announce(member, values, to: users)
    }

    /// Sends the signals for a wallet whose collection was deleted over the bus.
    func walletDeleted(_ name: String, collection: String) {
        walletHandles.close { $0.collection == collection }
        walletsSignal("walletDeleted", [.string(name)])
        walletsSignal("walletListDirty", [])
    }
}

extension BusValue {
    static func strings(_ texts: [String]) -> BusValue { .array("s", texts.map(BusValue.string)) }
}
