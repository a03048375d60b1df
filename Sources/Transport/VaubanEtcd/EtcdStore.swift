import Crypto
package import VaubanSyncCarrierWire

/// Who brings a request to etcd and returns what the answer says.
package protocol EtcdCaller: Sendable {
    /// Returns what `read` finds in the answer. Another node is asked if it throws `garbage`.
    func call<Value: Sendable>(
        _ request: EtcdRequest, _ read: @Sendable (EtcdReply) throws(EtcdFault) -> Value
    ) async throws(EtcdFault) -> Value
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
        // By who has the connection alone.
        case .watch: throw EtcdFault(.refused, "a watch is not asked for among other requests")
        case .read, .readUnless: return try await read(request)
        case .add, .addUnless, .replace: return try await write(request)
        case .remove:
            let parts = keys.parts(ofFileNamed: request.name, in: request.section)
            try await perform([.deleteKey(keys.file(named: request.name, in: request.section)), .delete(parts)])
            return .done
        }
    }

    // MARK: Reading

    private func names(in section: String) async throws(EtcdFault) -> [String] {
        var range = keys.files(in: section)
        var names: [String] = []
        var count = 0
        while true {
            let asked = range
            let page = try await caller.call(.keys(asked, limit: EtcdLimits.keysOfPage)) { (reply) throws(EtcdFault) in
                try reply.keys(of: asked)
            }
            names += page.keys.compactMap { asked.name(of: $0) }
            count += page.keys.count
            guard page.more, let last = page.keys.last else { return names }
            guard count <= EtcdLimits.namesMax else {
                throw EtcdFault(
                    .damaged,
                    "\(section) has more than \(EtcdLimits.namesMax) names. If a device wrote so many, run vauban sync leave there, "
                        + "remove it on another, and let it join again; otherwise ask the operator of etcd to delete those that no "
                        + "device wrote")
            }
            range = range.after(last)
        }
    }

    private func read(_ request: CarrierRequest) async throws(EtcdFault) -> CarrierReply {
        let key = keys.file(named: request.name, in: request.section)
        let other = request.other.map { keys.file(named: $0.name, in: $0.section) }
        for _ in 0..<EtcdLimits.readsMax {
            let (found, isPresent) = if let other { try await value(key, ifAbsent: other) } else { (try await value(key), false) }
            guard !isPresent else { return .present }
            guard let found else { return .absent }
            switch EtcdHead(value: found, fileBytesMax: CarrierGrammar.fileBytesMax) {
            case .whole(let file): return .file(file)
            case .split(let length, let digest):
                // Parts that are gone belong to a file that was just replaced.
                if let file = try await file(of: request, length: length, digest: digest) { return .file(file) }
            case nil:
                throw EtcdFault(
                    .damaged,
                    "\(request.section)/\(request.name) is not a file of vauban sync; ask the operator of etcd to delete "
                        + String(decoding: key, as: UTF8.self))
            }
        }
        throw EtcdFault(
            .damaged,
            "\(request.section)/\(request.name) is not complete; try again later, and if that does not help, ask the operator of etcd to "
                + "restore a newer copy")
    }

    /// Returns nil if the parts are not all there, or are of another file.
    private func file(of request: CarrierRequest, length: Int, digest: [UInt8]) async throws(EtcdFault) -> [UInt8]? {
        var file: [UInt8] = []
        file.reserveCapacity(length)
        for (number, part) in EtcdHead.parts(of: length).enumerated() {
            let key = keys.part(number, ofFile: EtcdHead.hex(digest), named: request.name, in: request.section)
            guard let bytes = try await value(key), bytes.count == part.count else { return nil }
            file += bytes
        }
        return Array(SHA256.hash(data: file)) == digest ? file : nil
    }

    private func value(_ key: [UInt8]) async throws(EtcdFault) -> [UInt8]? {
        try await caller.call(.get(key)) { (reply) throws(EtcdFault) in try reply.value(of: key) }
    }

    /// Reads a value if another key is not there at the same instant.
    private func value(_ key: [UInt8], ifAbsent other: [UInt8]) async throws(EtcdFault) -> (value: [UInt8]?, isPresent: Bool) {
        try await caller.call(.transaction(ifAbsent: [other], [.get(key: key)])) { (reply) throws(EtcdFault) in
            try reply.value(of: key, ifAbsent: other)
        }
    }

    // MARK: Writing

    private func perform(_ operations: [EtcdOperation]) async throws(EtcdFault) {
        try await caller.call(.transaction(operations)) { (reply) throws(EtcdFault) in try reply.success() }
    }

    /// Writes the parts of a long file, which nobody sees, and then its head, unless another file has the name. It may be repeated: parts
    /// are called by their content, and a head that is there already is compared.
    private func write(_ request: CarrierRequest) async throws(EtcdFault) -> CarrierReply {
        let head = EtcdHead(of: request.file)
        let key = keys.file(named: request.name, in: request.section)
        let all = keys.parts(ofFileNamed: request.name, in: request.section)
        // What runs that were killed left behind.
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
        let found = try await caller.call(.transaction(ifAbsent: absent, operations)) { (reply) throws(EtcdFault) in
            try reply.valuesInTheWay(of: absent)
        }
        // What was written when the other file was not there is done, also if the answer to that was lost.
        guard let found, found[key] != head.value else { return .done }
        if let own { try await perform([.delete(own)]) }
        return found[key] != nil ? .taken : .present
    }
}
