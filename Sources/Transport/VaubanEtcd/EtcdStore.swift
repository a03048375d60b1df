import Crypto
package import VaubanSyncCarrierWire

/// Who brings a request to etcd and its answer back.
package protocol EtcdCaller: Sendable {
    func call(_ request: EtcdRequest) async throws(EtcdFault) -> EtcdReply
}

/// The files of one user in etcd (Specs/sync.md, "The carrier").
package struct EtcdStore<Caller: EtcdCaller>: Sendable {
    private let caller: Caller
    private let keys: EtcdKeys

    package init(_ caller: Caller, user: String) {
        self.caller = caller
        keys = EtcdKeys(user: user)
    }

    package func reply(to request: CarrierRequest) async throws(EtcdFault) -> CarrierReply {
        switch request.operation {
        case .names: return .names(try await names(in: request.section))
        case .read: return try await read(request).map { .file($0) } ?? .absent
        case .add: return try await write(request, replacing: false) ? .done : .taken
        case .replace: return try await write(request, replacing: true) ? .done : .taken
        case .remove:
            let parts = keys.parts(request.section, request.name)
            _ = try await caller.call(
                .transaction([.deleteKey(keys.file(request.section, request.name)), .delete(parts)])
            ).outcome()
            return .done
        }
    }

    // MARK: Reading

    private func names(in section: String) async throws(EtcdFault) -> [String] {
        var range = keys.files(section)
        var names: [String] = []
        var count = 0
        while true {
            let (rows, more) = try await caller.call(.keys(range, limit: EtcdLimits.keysOfPage)).rows()
            guard rows.count <= EtcdLimits.keysOfPage else { throw .garbage }
            for row in rows {
                // In the range, in order, and without the value: a node that sends anything else could go on for ever.
                guard range.contains(row.key), row.key.count <= EtcdLimits.keyBytesMax, row.value.isEmpty else { throw .garbage }
                range = range.after(row.key)
                count += 1
                if let name = range.name(of: row.key) { names.append(name) }
            }
            guard more else { return names }
            guard !rows.isEmpty else { throw .garbage }
            guard count <= EtcdLimits.namesMax else { throw EtcdFault(.damaged, "\(section) has more than \(EtcdLimits.namesMax) names") }
        }
    }

    private func read(_ request: CarrierRequest) async throws(EtcdFault) -> [UInt8]? {
        for _ in 0..<EtcdLimits.readsMax {
            guard let value = try await value(keys.file(request.section, request.name)) else { return nil }
            switch EtcdHead(value: value, fileBytesMax: CarrierGrammar.fileBytesMax) {
            case .whole(let file): return file
            case .split(let length, let digest):
                // Parts that are gone belong to a file that was just replaced.
                if let file = try await file(request, length, digest) { return file }
            case nil: throw EtcdFault(.damaged, "\(request.section)/\(request.name) is no file of vauban sync")
            }
        }
        throw EtcdFault(.damaged, "\(request.section)/\(request.name) is not complete")
    }

    /// Returns nil if the parts are not all there, or are of another file.
    private func file(_ request: CarrierRequest, _ length: Int, _ digest: [UInt8]) async throws(EtcdFault) -> [UInt8]? {
        var file: [UInt8] = []
        file.reserveCapacity(length)
        for (number, part) in EtcdHead.parts(of: length).enumerated() {
            let key = keys.part(request.section, request.name, EtcdHead.hex(digest), number)
            guard let bytes = try await value(key), bytes.count == part.count else { return nil }
            file += bytes
        }
        return Array(SHA256.hash(data: file)) == digest ? file : nil
    }

    private func value(_ key: [UInt8]) async throws(EtcdFault) -> [UInt8]? {
        let (rows, more) = try await caller.call(.get(key)).rows()
        guard let row = rows.first else { return nil }
        guard rows.count == 1, !more, row.key == key, row.value.count <= EtcdHead.valueBytesMax else { throw .garbage }
        return row.value
    }

    // MARK: Writing

    /// Writes the parts of a long file, which nobody sees, and then its head. Returns false if another file has the name. It may be
    /// repeated: parts are called by their content, and a head that is there already is compared.
    private func write(_ request: CarrierRequest, replacing: Bool) async throws(EtcdFault) -> Bool {
        let head = EtcdHead(of: request.file)
        let key = keys.file(request.section, request.name)
        let all = keys.parts(request.section, request.name)
        // What runs that were killed left behind.
        var stale: [EtcdKeyRange] = []
        var own: EtcdKeyRange?
        if case .split(let length, let digest) = head {
            for (number, part) in EtcdHead.parts(of: length).enumerated() {
                let key = keys.part(request.section, request.name, EtcdHead.hex(digest), number)
                let outcome = try await caller.call(.transaction([.put(key: key, value: Array(request.file[part]))])).outcome()
                guard outcome.succeeded else { throw .garbage }
            }
            let parts = keys.parts(request.section, request.name, EtcdHead.hex(digest))
            own = parts
            stale = all.around(parts)
        } else if replacing {
            stale = [all]
        }
        let operations = [EtcdOperation.put(key: key, value: head.value)] + stale.map { .delete($0) }
        if replacing {
            guard try await caller.call(.transaction(operations)).outcome().succeeded else { throw .garbage }
            return true
        }
        let outcome = try await caller.call(.transaction(ifAbsent: key, operations, otherwise: [.get(key: key)])).outcome()
        if outcome.succeeded { return true }
        guard outcome.rows.count == 1, let row = outcome.rows.first, row.key == key else { throw .garbage }
        if row.value == head.value { return true }
        if let own { _ = try await caller.call(.transaction([.delete(own)])).outcome() }
        return false
    }
}

/// The limits of what etcd may answer, and how long it may take.
package enum EtcdLimits {
    package static let keysOfPage = 1000
    /// All names of a section: as many as fit into a reply.
    package static let namesMax = 140_000
    static let keyBytesMax = 300
    /// How often a long file is read whose parts are not all there.
    static let readsMax = 3
    /// The time for one request, at all nodes together, and for one operation.
    package static let requestSeconds = 30
    package static let operationSeconds = 120
    /// The time for connecting to one node.
    package static let connectSeconds = 3
    /// The pause before all nodes are asked again.
    package static let pauseMilliseconds = 300

    /// The time for one request at one node, so that each node has its turn.
    package static func secondsOfNode(among nodes: Int) -> Int { max(connectSeconds, min(10, requestSeconds / nodes)) }
}
