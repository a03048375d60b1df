// The user's consent to use another owner's item: one prompt in a request, and the storage of its answer.

internal import EnclaveWire
internal import KeychainStore
internal import VaubanAccessPolicy
internal import VaubanKeychainModel
internal import VaubanLinuxHost
internal import VaubanRefusal
internal import VaubanUserModel

/// Why another owner's item is needed, and whether the user may be prompted for it.
struct ConsentRequest {
    let purpose: Consent.Purpose
    let ui: AuthenticationUI
    /// Whether the request is for one item, which the prompt names.
    var isForOne = true
    let reason: String?
    /// The changes to the item. The prompt shows them if they rename it.
    var changes = ItemAttributes()

    var mayPrompt: Bool { ui == .allow && isForOne }
    /// Whether the refusal tells the caller that a prompt could not be shown.
    var revealsMissingPrompt: Bool { ui == .allow || ui == .fail }
}

extension RequestInProgress {
    /// Prompts the user for an item that was found. Returns whether the caller may use it.
    func promptToUse(_ opened: OpenedRow, _ request: ConsentRequest) throws -> Bool {
        guard request.mayPrompt else { return false }
        let item = opened.record.shownName(as: request.changes)
        let consent = try consent(request.purpose, item: item, owner: opened.record.accessGroup)
        guard let choice = try promptOnce(to: consent, about: .item(opened), of: opened.record.kind, request.reason),
            useConsent(on: opened.row.item)
        else {
            return false
        }
        try remember(choice, of: opened.row.item, for: request.purpose)
        return true
    }

    /// Returns a consent. A consent to change or delete an item, or to read it without a name, is valid once.
    func consent(_ purpose: Consent.Purpose, item: String, owner: String) throws -> Consent {
        let key = purpose == .readItem ? try rights().key : nil
        return Consent(purpose, offered: key == nil ? .once : [.once, .untilLock, .always], item: item, owner: owner, program: key)
    }

    func remember(_ choice: ConsentChoice, of item: [UInt8], for purpose: Consent.Purpose) throws {
        guard purpose == .readItem, let key = try rights().key else { return }
        switch choice {
        // These consents offer no accounts.
        case .once, .account: break
        case .untilLock: services.leasedKeys.remember(ConsentUntilLock(key: Array(key.utf8), item: item), of: user)
        case .always: try keep(.answered(item), for: key)
        }
    }

    /// Returns the user's answer to a prompt, which is shown once in a request; nil if the request has prompted for something else. A
    /// consent that found no item stays valid for the connection's next request in the same words about another class.
    func promptOnce(
        to consent: Consent, about subject: PromptSubject = .other, of kind: ItemKind, _ reason: String? = nil
    ) throws -> ConsentChoice? {
        if let consentAnswer { return consentAnswer.consent == consent ? consentAnswer.choice : nil }
        let unused = caller.consents.unused.withLock { unused in
            defer { unused = nil }
            return unused
        }
        var choice: ConsentChoice?
        if let unused, unused.consent == consent, unused.kind != kind { choice = unused.choice }
        let answer = try choice ?? ask(consent, about: subject, reason)
        consentAnswer = ConsentAnswer(consent: consent, choice: answer)
        return answer
    }

    /// Uses the consent of this request for one item. Reading the item's row again uses the same consent.
    func useConsent(on item: [UInt8]) -> Bool {
        guard consentAnswer?.item == nil || consentAnswer?.item == item else { return false }
        consentAnswer?.item = item
        return true
    }

    /// Prompts the user. If no prompt can be shown, the refusal says so, and never that no item exists.
    @discardableResult
    func ask(_ consent: Consent, about subject: PromptSubject = .other, _ reason: String? = nil) throws -> ConsentChoice {
        do {
            let choice = try enclave.consent(consent, reason: reason)
            wasPrompted = true
            return choice
        } catch {
            note(error, of: consent, about: subject)
            guard (error as? Refusal)?.reason == .passcodeNotSet else { throw error }
            throw Refusal(.interactionNotAllowed, "This needs your consent, which takes a passcode; set one with: vauban passcode set")
        }
    }
}

/// The one prompt of a request, the user's choice, and the item that it was used for.
struct ConsentAnswer {
    let consent: Consent
    let choice: ConsentChoice
    var item: [UInt8]?
}

/// A consent to use an item that does not exist in one of the classes.
struct PendingConsent: Sendable {
    let consent: Consent
    let choice: ConsentChoice
    let kind: ItemKind
}
