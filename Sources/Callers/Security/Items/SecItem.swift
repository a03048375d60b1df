// The four verbs, in Apple's names. Each reads its dictionaries into typed requests, asks keychaind, and answers a
// status; nothing is decided here.

internal import VaubanAccessPolicy
internal import VaubanAuthenticationClient
internal import VaubanKeychainClient
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanLinuxHost
internal import VaubanSecretBytes

/// Adds an item: Apple's `SecItemAdd` (C-008). `result` receives what the return keys ask for.
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    reporting {
        let parsed = try ItemDictionary(attributes, for: .add)
        if case .identity(let identity)? = parsed.object { return try addIdentity(identity, parsed, result) }
        let record = try parsed.record()
        let secret = parsed.secret
        let added = try Keychain.client().add(
            record, secret: secret, password: parsed.passwordBytes, returns: parsed.wireReturns, applications: parsed.applications)
        guard let added, let found = ItemResult(added, kind: record.kind, makesObject: parsed.returns.contains(.ref)) else { return }
        if let object = found.shaped(parsed.returns) { result?.pointee = object }
    }
}

/// Searches: Apple's `SecItemCopyMatching` (C-012 … C-016). Without a return key it only says whether there is a match.
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    reporting {
        let parsed = try ItemDictionary(query, for: .copyMatching)
        let request = try parsed.query()
        let makesObject = parsed.returns.contains(.ref) || parsed.filter.needsCertificate
        let entries = try parsed.running { (waiting, cancellation) throws(Refusal) in
            try Keychain.client().copyMatching(request, password: parsed.passwordBytes, waiting: waiting, cancellation: cancellation)
        }
        var found = entries.compactMap { ItemResult($0, kind: request.kind, makesObject: makesObject) }
        if !parsed.filter.isEmpty {
            found = found.filter { parsed.filter.matches($0.record, $0.certificate, issuers: CertificatesInKeychain.ofSubject) }
            if found.isEmpty { throw Refusal(.itemNotFound) }
            found = Array(found.prefix(parsed.limit?.countMax ?? 1))
        }
        guard !parsed.returns.isEmpty, let result else { return }
        guard parsed.limit ?? .one != .one else {
            if let object = found.first?.shaped(parsed.returns) { result.pointee = object }
            return
        }
        result.pointee = NSArray(array: found.compactMap { $0.shaped(parsed.returns) })
    }
}

/// Changes every match: Apple's `SecItemUpdate` (C-017). The second dictionary holds attributes and the value only.
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    reporting {
        let selection = try ItemDictionary(query, for: .update)
        let request = try selection.query()
        let changes = try ItemDictionary(attributesToUpdate, for: .changes)
        let secret = changes.secret
        let wanted = try changes.changes(of: request.kind)
        try selection.running { (waiting, cancellation) throws(Refusal) in
            try Keychain.client().update(
                request, wanted, secret: secret, password: selection.passwordBytes, waiting: waiting, cancellation: cancellation)
        }
    }
}

/// Removes every match: Apple's `SecItemDelete` (C-018).
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    reporting {
        var request = try ItemDictionary(query, for: .delete).query()
        if request.kind == .identity, request.reference == nil, !request.attributes.isEmpty, try ItemDictionary(query, for: .delete).object != nil {
            // The one that the object is: its certificate's reference says which.
            request.returnsReference = true
            request.reference = try Keychain.client().copyMatching(request).first?.reference
            request.attributes = ItemAttributes()
        }
        try Keychain.client().delete(request)
    }
}

/// An identity is two items. One that is there already is no fault, unless both are.
private func addIdentity(_ identity: SecIdentity, _ parsed: ItemDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) throws {
    let client = try Keychain.client()
    var duplicates = 0
    for part in [ItemObject.certificate(identity.certificate), .key(identity.key)] {
        do {
            _ = try client.add(try parsed.record(of: part), secret: part.secret)
        } catch let refusal as Refusal where refusal.reason == .duplicateItem {
            duplicates += 1
        }
    }
    guard duplicates < 2 else { throw Refusal(.duplicateItem) }
    guard !parsed.returns.isEmpty, let result else { return }
    var query = ItemQuery(kind: .identity, attributes: ItemObject.identity(identity).attributes(forQuery: true))
    query.returnsData = parsed.returns.contains(.data) || parsed.returns.contains(.ref)
    query.returnsAttributes = true
    query.returnsReference = true
    guard let entry = try client.copyMatching(query).first,
        let found = ItemResult(entry, kind: .identity, makesObject: parsed.returns.contains(.ref))
    else { return }
    if let object = found.shaped(parsed.returns) { result.pointee = object }
}

/// The certificates of the keychain by what they are about, to follow issuers.
private enum CertificatesInKeychain {
    static func ofSubject(_ certificate: SecCertificate) -> [SecCertificate] {
        var query = ItemQuery(kind: .certificate, attributes: ItemAttributes([.subject: .data(certificate.normalizedIssuer)]))
        query.limit = .all
        query.returnsData = true
        let found = (try? Keychain.client().copyMatching(query)) ?? []
        return found.compactMap { ItemResult($0, kind: .certificate, makesObject: true)?.certificate }
    }
}

/// Runs a verb and answers its status; what the person should know is kept for `SecCopyErrorMessageString`.
private func reporting(_ body: () throws -> Void) -> OSStatus {
    do {
        try body()
        return errSecSuccess
    } catch let refusal as Refusal {
        LastRefusal.set(refusal)
        return refusal.status
    } catch {
        return errSecInternal
    }
}

extension ItemDictionary {
    /// A call that may ask the person: its context's invalidation ends it, and this process's terminal hears where they are asked.
    fileprivate func running<Value>(
        _ call: (@escaping KeychainClient.Waiting, CallCancellation?) throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        guard let context else { return try OwnTerminal.asking(of: try Service.current()) { (waiting) throws(Refusal) in try call(waiting, nil) } }
        let cancellation = CallCancellation()
        guard context.begin(cancellation) else { throw Refusal(.authenticationFailed, "the authentication context was invalidated") }
        defer { context.end(cancellation) }
        do throws(Refusal) {
            return try OwnTerminal.asking(of: try Service.current()) { (waiting) throws(Refusal) in try call(waiting, cancellation) }
        } catch {
            throw cancellation.isCancelled ? Refusal(.authenticationFailed, "the authentication context was invalidated") : error
        }
    }
}

extension MatchLimit {
    fileprivate var countMax: Int {
        switch self {
        case .one: 1
        case .all: .max
        case .count(let count): Int(clamping: count)
        }
    }
}

extension ItemObject {
    fileprivate var secret: SecretBytes? {
        guard let value else { return nil }
        return SecretBytes(count: value.count) { target in value.withUnsafeBytes { target.copyMemory(from: $0) } }
    }
}

extension ItemDictionary {
    /// What has to come back so that the result can be made.
    fileprivate var wireReturns: ReturnKinds {
        var kinds: ReturnKinds = []
        if returns.contains(.data) || returns.contains(.ref) { kinds.insert(.data) }
        if returns.contains(.attributes) || returns.contains(.ref) { kinds.insert(.attributes) }
        if returns.contains(.persistentRef) { kinds.insert(.reference) }
        return kinds
    }

    /// The value on its way out, copied once and straight from the caller's own data.
    fileprivate var secret: SecretBytes? {
        guard let value else { return nil }
        return SecretBytes(count: value.count) { target in value.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    fileprivate var passwordBytes: SecretBytes? {
        guard let password else { return nil }
        return password.bytes.duplicate()
    }
}
