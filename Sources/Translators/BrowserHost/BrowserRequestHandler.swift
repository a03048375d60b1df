import Glibc
internal import VaubanAuthenticationClient
internal import VaubanJSON
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanOneTimeCodes
internal import VaubanPlainText
internal import VaubanRefusal
internal import VaubanSecretBytes
internal import VaubanSecretText

/// The answers to one browser's requests, each from the keychain as it is now.
final class BrowserRequestHandler: Sendable {
    private let browser: BrowserCaller
    private let keychain: KeychainClient
    /// The same, but it does not start a stopped service: the extension compares each sent form, and would undo `vauban stop`.
    private let runningKeychain: KeychainClient
    /// Whether clients start the service: in user mode.
    private let isStartedByClients: Bool
    private let authentication: AuthenticationClient
    private let suffixes: PublicSuffixes?

    init(_ browser: BrowserCaller, _ service: Service) {
        self.browser = browser
        keychain = KeychainClient(service: service)
        runningKeychain = KeychainClient(service: service, startsService: false)
        isStartedByClients = service.home != nil
        authentication = AuthenticationClient(service: service)
        suffixes = PublicSuffixes.installed()
    }

    /// Returns the reply to a request. `waiting` is called with the place of a prompt.
    func reply(to request: BrowserRequest, waiting: @escaping (String) -> Void) -> SecretBox {
        let reply = SecretJSON()
        reply.add("id", Int(request.number))
        do throws(Refusal) {
            try answer(request.action, in: reply, waiting)
            return reply.finished()
        } catch {
            return Self.refusal(request.number, error)
        }
    }

    static func refusal(_ number: Int64?, _ refusal: Refusal) -> SecretBox {
        let reply = SecretJSON()
        if let number { reply.add("id", Int(number)) }
        reply.add("error", refusal.message)
        if [.locked, .beforeFirstUnlock].contains(refusal.reason) { reply.add("locked", true) }
        return reply.finished()
    }

    private func answer(_ action: BrowserRequest.Action, in reply: SecretJSON, _ waiting: @escaping (String) -> Void) throws(Refusal) {
        switch action {
        case .find(let origin):
            let found = try items(origin).all()
            offer(found.items, in: reply)
            if found.isCut { reply.add("more", true) }
            reply.add("history", try keychain.keepsHistory())
        case .password(let origin, let identifier):
            let items = try items(origin)
            let item = try items.item(identifier, for: .password)
            let secret = try items.secret(of: item, reason: reason("fill the password of", item, on: origin), waiting: waiting)
            guard secret.count <= BrowserLimits.secretBytesMax else { throw Refusal(.dataTooLarge, "The password is too long for a field") }
            reply.add("account", item.record.text(.account))
            try reply.add("password", secret: secret)
        case .code(let origin, let identifier):
            let items = try items(origin)
            let item = try items.item(identifier, for: .code)
            try addCode(items.secret(of: item, reason: reason("fill the one-time code of", item, on: origin), waiting: waiting), to: reply)
        case .generate(let origin, let rules):
            let made = try NewPassword.make(rules, for: origin.host, known: UserRules.known)
            try reply.add("password", secret: made.password.secret)
            reply.add("summary", made.summary)
        case .save(let origin, let account, let secret):
            reply.add("options", texts: try items(origin).save(account: account, secret).words)
        case .replace(let origin, let identifier, let secret, let mayLose):
            let items = try items(origin)
            let item = try items.item(identifier, for: .password)
            let words = reason("replace the password of", item, on: origin)
            reply.add("history", try items.replace(item, secret, mayLose: mayLose, reason: words, waiting: waiting))
        case .compare(let origin, let account, let secret): try compare(origin, account: account, secret, in: reply)
        case .unlock: try authentication.unlockByPrompt(reason: "to fill passwords in \(browser.name)", waiting: waiting)
        }
    }

    /// Compares a typed password. A stopped keychain has no keys, as before the first unlock, and the user's request to unlock starts it.
    /// The refusal is therefore the same.
    private func compare(_ origin: WebOrigin, account: String, _ secret: SecretBox, in reply: SecretJSON) throws(Refusal) {
        let comparison: StoredComparison
        let keepsHistory: Bool
        do throws(Refusal) {
            comparison = try items(origin, in: runningKeychain).compare(account: account, secret)
            keepsHistory = try runningKeychain.keepsHistory()
        } catch {
            throw error.reason == .unavailable && isStartedByClients ? Refusal(.beforeFirstUnlock) : error
        }
        reply.add("stored", comparison.stored.rawValue)
        offer(comparison.item.map { [$0] } ?? [], in: reply)
        reply.add("history", keepsHistory)
    }

    private func items(_ origin: WebOrigin) throws(Refusal) -> SiteItems { try items(origin, in: keychain) }

    private func items(_ origin: WebOrigin, in keychain: KeychainClient) throws(Refusal) -> SiteItems {
        SiteItems(keychain: keychain, site: SiteNames(origin, suffixes, shared: try SharedSites.ofUser()))
    }

    private func reason(_ verb: String, _ item: SiteItem, on origin: WebOrigin) -> String {
        let name = PlainLine.of(item.title, charactersMax: BrowserLimits.nameCharactersMax)
        return "\(verb) \(name) on \(origin.words), in \(browser.name)"
    }

    private func offer(_ items: [SiteItem], in reply: SecretJSON) {
        reply.add("items", list: items) { entry, item in
            entry.add("item", item.identifier)
            entry.add("purpose", item.purpose.rawValue)
            entry.add("title", PlainLine.of(item.title, charactersMax: BrowserLimits.nameCharactersMax))
            entry.add("account", PlainLine.of(item.record.text(.account), charactersMax: BrowserLimits.nameCharactersMax))
            if item.purpose == .password {
                entry.add("name", PlainLine.of(item.word, charactersMax: 2 * BrowserLimits.nameCharactersMax))
                entry.add("options", texts: ItemOptions(item.record).words)
            }
            entry.add("why", PlainLine.of(item.why, charactersMax: 2 * BrowserLimits.nameCharactersMax))
            entry.add("asks", item.needsApproval)
        }
    }

    private func addCode(_ secret: consuming SecretBytes, to reply: SecretJSON) throws(Refusal) {
        let address: OneTimeCodeAddress
        do throws(OneTimeCodeError) {
            address = try secret.withUnsafeBytes { bytes throws(OneTimeCodeError) in try OneTimeCodeAddress(bytes) }
        } catch {
            throw Refusal(.badParameter, error.sentence)
        }
        let now = Int64(time(nil))
        guard let step = address.key.step(at: now), let left = address.key.secondsLeft(at: now) else {
            throw Refusal(.unsupported, "This key gives each code once; to use the next one, run: vauban code get")
        }
        try reply.add("code", secret: address.key.code(at: step))
        reply.add("seconds", Int(left))
    }
}
