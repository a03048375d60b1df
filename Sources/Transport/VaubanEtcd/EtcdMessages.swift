import Foundation
import VaubanJSON

/// One operation inside a transaction.
package enum EtcdOperation: Hashable, Sendable {
    case put(key: [UInt8], value: [UInt8])
    case delete(EtcdKeyRange)
    case deleteKey([UInt8])
    case get(key: [UInt8])
}

/// Requests to the JSON gateway of etcd 3.4 and later: bytes are base64, numbers of 64 bits are texts.
package struct EtcdRequest: Hashable, Sendable {
    package let path: String
    package let body: [UInt8]

    /// The most bytes of a reply that are read.
    package static let replyBytesMax = 2 << 20

    package static func authenticate(user: String, password: [UInt8]) -> EtcdRequest {
        var text = Array("{\"name\":\"\(user)\",\"password\":\"".utf8)
        for byte in password {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
            text.append(byte)
        }
        return EtcdRequest(path: "/v3/auth/authenticate", body: text + "\"}".utf8)
    }

    package static func get(_ key: [UInt8]) -> EtcdRequest {
        EtcdRequest(path: "/v3/kv/range", body: Array("{\"key\":\"\(base64(key))\"}".utf8))
    }

    /// Requests the keys of a range in order, without values.
    package static func keys(_ range: EtcdKeyRange, limit: Int) -> EtcdRequest {
        let body = "{\"key\":\"\(base64(range.start))\",\"range_end\":\"\(base64(range.end))\",\"limit\":\"\(limit)\",\"keys_only\":true}"
        return EtcdRequest(path: "/v3/kv/range", body: Array(body.utf8))
    }

    /// Watches every change of the range from a revision on, or from now on without one. etcd splits messages that would be too long.
    package static func watch(_ range: EtcdKeyRange, from revision: Int64?) -> EtcdRequest {
        let start = revision.map { ",\"start_revision\":\"\($0)\"" } ?? ""
        let options = "\"filters\":[\"NODELETE\"],\"fragment\":true\(start)"
        let body = "{\"create_request\":{\"key\":\"\(base64(range.start))\",\"range_end\":\"\(base64(range.end))\",\(options)}}"
        return EtcdRequest(path: "/v3/watch", body: Array(body.utf8))
    }

    /// Performs `operations` if none of the keys `absent` exists; otherwise gets those that do.
    package static func transaction(ifAbsent absent: [[UInt8]] = [], _ operations: [EtcdOperation]) -> EtcdRequest {
        let compare = absent.map {
            "{\"key\":\"\(base64($0))\",\"target\":\"CREATE\",\"result\":\"EQUAL\",\"create_revision\":\"0\"}"
        }.joined(separator: ",")
        let otherwise = absent.map { EtcdOperation.get(key: $0) }
        let body = "{\"compare\":[\(compare)],\"success\":[\(list(operations))],\"failure\":[\(list(otherwise))]}"
        return EtcdRequest(path: "/v3/kv/txn", body: Array(body.utf8))
    }

    private static func list(_ operations: [EtcdOperation]) -> String {
        operations.map { operation in
            switch operation {
            case .put(let key, let value): "{\"request_put\":{\"key\":\"\(base64(key))\",\"value\":\"\(base64(value))\"}}"
            case .delete(let range):
                "{\"request_delete_range\":{\"key\":\"\(base64(range.start))\",\"range_end\":\"\(base64(range.end))\"}}"
            case .deleteKey(let key): "{\"request_delete_range\":{\"key\":\"\(base64(key))\"}}"
            case .get(let key): "{\"request_range\":{\"key\":\"\(base64(key))\"}}"
            }
        }.joined(separator: ",")
    }

    private static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}

/// A reply of the gateway. Every reader refuses what etcd would not write.
package struct EtcdReply: Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package struct Row: Hashable, Sendable {
        package let key: [UInt8]
        package let value: [UInt8]
    }

    package func token() throws(EtcdError) -> String {
        let token = try read { $0.text("token") }
        // The token becomes an HTTP header.
        guard (1...512).contains(token.utf8.count), token.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw .garbage
        }
        return token
    }

    package func rows() throws(EtcdError) -> (rows: [Row], more: Bool) {
        try read { reply in
            // etcd omits empty members, but never the header.
            guard reply.object("header") != nil else { return nil }
            return Self.rows(of: reply).map { ($0, reply.isTrue("more")) }
        }
    }

    /// The cluster that replied, and its store's revision.
    package func revision() throws(EtcdError) -> (cluster: UInt64, revision: Int64) {
        try read { reply in
            guard let header = reply.object("header"), let cluster = header.text("cluster_id").flatMap({ UInt64($0) }),
                let revision = header.text("revision").flatMap({ Int64($0) }), revision > 0
            else { return nil }
            return (cluster, revision)
        }
    }

    /// Whether a transaction's condition held, and the rows that its requests found.
    package func outcome() throws(EtcdError) -> (succeeded: Bool, rows: [Row]) {
        try read { reply in
            guard reply.object("header") != nil else { return nil }
            var found: [Row] = []
            for range in reply.objects("responses").compactMap({ $0.object("response_range") }) {
                guard !range.isTrue("more"), let rows = Self.rows(of: range) else { return nil }
                found += rows
            }
            return (reply.isTrue("succeeded"), found)
        }
    }

    /// Returns the fault in a reply that is not a success.
    package func fault() -> EtcdError {
        let found = try? read { reply in
            reply.number("code").map { EtcdError(code: $0, message: reply.text("error") ?? reply.text("message") ?? "") }
        }
        return found ?? .garbage
    }

    private func read<Value>(_ body: (JSONObject) -> Value?) throws(EtcdError) -> Value {
        let found: Value? = bytes.withUnsafeBytes { buffer in JSONObject(document: buffer, .items).flatMap(body) }
        guard let found else { throw .garbage }
        return found
    }

    private static func rows(of reply: JSONObject) -> [Row]? {
        guard let listed = reply["kvs"] else { return [] }
        guard case .list(let values) = listed else { return nil }
        let objects = reply.objects("kvs")
        guard objects.count == values.count else { return nil }
        var rows: [Row] = []
        for row in objects {
            guard let key = data(row, "key"), let value = data(row, "value"), !key.isEmpty else { return nil }
            rows.append(Row(key: key, value: value))
        }
        return rows
    }

    private static func data(_ row: JSONObject, _ name: String) -> [UInt8]? {
        guard row[name] != nil else { return [] }
        guard let text = row.text(name), let data = Data(base64Encoded: text) else { return nil }
        return Array(data)
    }
}
