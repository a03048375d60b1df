import Crypto
package import VaubanSyncCarrierWire

/// Sends a request to etcd and interprets the reply.
package protocol EtcdCaller: Sendable {
    /// Returns the result of `read` for the reply. Tries another node if `read` throws `garbage`.
    func call<Value: Sendable>(
        _ request: EtcdRequest, _ read: @Sendable (EtcdReply) throws(EtcdError) -> Value
    ) async throws(EtcdError) -> Value
}

/// The files of one user in etcd (Specs/sync.md, "The carrier").
package struct EtcdStore<Caller: EtcdCaller>: Sendable {
    private let caller: Caller
    private let keys: EtcdKeys

    package init(_ caller: Caller, user: String) {
        self.caller = caller
        keys = EtcdKeys(user: user)
    }

    package func reply(to request: CarrierRequest) async throws(EtcdError) -> CarrierReply {
        switch request.operation {
        case .names: return .names(try await names(in: request.section))
        // Only the owner of the connection handles a watch.
        case .watch: throw EtcdError(.refused, "a watch is not asked for among other requests")
        case .revision:
            let (cluster, revision) = try await caller.call(.keys(keys.files(in: "circle"), limit: 1)) { (reply) throws(EtcdError) in
                try reply.revision()
            }
            return .revision(cluster: cluster, revision: revision)
        case .read, .readUnless: return try await read(request)
        case .add, .addUnless, .replace: return try await write(request)
        case .remove:
            let parts = keys.parts(ofFileNamed: request.name, in: request.section)
            try await perform([.deleteKey(keys.file(named: request.name, in: request.section)), .delete(parts)])
            return .done
        }
    }

    // MARK: Reading

    private func names(in section: String) async throws(EtcdError) -> [String] {
        var range = keys.files(in: section)
        var names: [String] = []
        var count = 0
        while true {
            let asked = range
            let page = try await caller.call(.keys(asked, limit: EtcdLimits.keysOfPage)) { (reply) throws(EtcdError) in
                try reply.keys(of: asked)
            }
            names += page.keys.compactMap { asked.name(of: $0) }
            count += page.keys.count
            guard page.more, let last = page.keys.last else { return names }
            guard count <= EtcdLimits.namesMax else {
                throw EtcdError(
                    .damaged,
                    "\(section) has more than \(EtcdLimits.namesMax) names. If a device wrote so many, run vauban sync leave there, "
                        + "remove it on another, and let it join again; otherwise ask the operator of etcd to delete those that no "
                        + "device wrote")
            }
            range = range.after(last)
        }
    }

    private func read(_ request: CarrierRequest) async throws(EtcdError) -> CarrierReply {
        let key = keys.file(named: request.name, in: request.section)
        let other = request.other.map { keys.file(named: $0.name, in: $0.section) }
        for _ in 0..<EtcdLimits.readsMax {
            let (found, isPresent) = if let other { try await value(key, ifAbsent: other) } else { (try await value(key), false) }
            guard !isPresent else { return .present }
            guard let found else { return .absent }
            switch EtcdHead(value: found, fileBytesMax: CarrierGrammar.fileBytesMax) {
            case .whole(let file): return .file(file)
            case .split(let length, let digest):
                // If the parts are missing, the file was just replaced.
                if let file = try await file(of: request, length: length, digest: digest) { return .file(file) }
            case nil:
                throw EtcdError(
                    .damaged,
                    "\(request.section)/\(request.name) is not a file of vauban sync; ask the operator of etcd to delete "
                        + String(decoding: key, as: UTF8.self))
            }
        }
        throw EtcdError(
            .damaged,
            "\(request.section)/\(request.name) is not complete; try again later, and if that does not help, ask the operator of etcd to "
                + "restore a newer copy")
    }

    /// Returns nil if parts are missing, or belong to another file.
    private func file(of request: CarrierRequest, length: Int, digest: [UInt8]) async throws(EtcdError) -> [UInt8]? {
        var file: [UInt8] = []
        file.reserveCapacity(length)
        for (number, part) in EtcdHead.parts(of: length).enumerated() {
            let key = keys.part(number, ofFile: EtcdHead.hex(digest), named: request.name, in: request.section)
            guard let bytes = try await value(key), bytes.count == part.count else { return nil }
            file += bytes
        }
        return Array(SHA256.hash(data: file)) == digest ? file : nil
    }

    private func value(_ key: [UInt8]) async throws(EtcdError) -> [UInt8]? {
        try await caller.call(.get(key)) { (reply) throws(EtcdError) in try reply.value(of: key) }
    }

    /// Reads a value if another key does not exist at the same revision.
    private func value(_ key: [UInt8], ifAbsent other: [UInt8]) async throws(EtcdError) -> (value: [UInt8]?, isPresent: Bool) {
        try await caller.call(.transaction(ifAbsent: [other], [.get(key: key)])) { (reply) throws(EtcdError) in
            try reply.value(of: key, ifAbsent: other)
        }
    }

    // MARK: Writing

    private func perform(_ operations: [EtcdOperation]) async throws(EtcdError) {
        try await caller.call(.transaction(operations)) { (reply) throws(EtcdError) in try reply.success() }
    }

    /// Writes the parts of a long file, which are invisible, and then its head, unless the name is taken by another file. It can be
    /// repeated: parts are named by their content, and an existing head is compared.
    private func write(_ request: CarrierRequest) async throws(EtcdError) -> CarrierReply {
        let head = EtcdHead(of: request.file)
        let key = keys.file(named: request.name, in: request.section)
        let all = keys.parts(ofFileNamed: request.name, in: request.section)
        // The parts that killed runs left behind.
        var stale = [all]
        var own: EtcdKeyRange?
        if case .split(let length, let digest) = head {
            let digits = EtcdHead.hex(digest)
            for (number, part) in EtcdHead.parts(of: length).enumerated() {
                let key = keys.part(number, ofFile: digits, named: request.name, in: request.section)
                try await perform([.put(key: key, value: Array(request.file[part]))])
            }
            let parts = keys.parts(ofFile: digits, named: request.name, in: request.section)
            own = parts
            stale = all.around(parts)
        }
        let operations = [EtcdOperation.put(key: key, value: head.value)] + stale.map { .delete($0) }
        if request.operation == .replace {
            try await perform(operations)
            return .done
        }
        let absent = [key] + (request.other.map { [keys.file(named: $0.name, in: $0.section)] } ?? [])
        let found = try await caller.call(.transaction(ifAbsent: absent, operations)) { (reply) throws(EtcdError) in
            try reply.existingValues(of: absent)
        }
        // If the key has our value although the condition failed, an earlier attempt wrote it and its reply was lost.
        guard let found, found[key] != head.value else { return .done }
        if let own { try await perform([.delete(own)]) }
        return found[key] != nil ? .taken : .present
    }
}
