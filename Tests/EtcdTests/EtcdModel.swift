import Foundation
import VaubanEtcd

/// etcd as a dictionary, which answers as its JSON gateway does. `spoil` stands for a hostile server: it may answer anything else.
actor EtcdModel: EtcdCaller {
    private(set) var rows: [[UInt8]: [UInt8]] = [:]
    /// The bodies of the requests, in their order.
    private(set) var requests: [EtcdRequest] = []
    /// The transactions that are still performed; those after them are lost, as if the writer was killed.
    private var transactionsLeft = Int.max
    private let spoil: @Sendable (EtcdRequest, String) -> String

    init(spoil: @escaping @Sendable (EtcdRequest, String) -> String = { $1 }) { self.spoil = spoil }

    func call<Value: Sendable>(
        _ request: EtcdRequest, _ read: @Sendable (EtcdReply) throws(EtcdError) -> Value
    ) async throws(EtcdError) -> Value {
        requests.append(request)
        guard let body = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any] else { throw .garbage }
        let answer = request.path == "/v3/kv/range" ? range(body) : try transaction(body)
        return try read(EtcdReply(Array(spoil(request, answer).utf8)))
    }

    func killAfter(transactions: Int) { transactionsLeft = transactions }

    func put(_ key: String, _ value: [UInt8]) { rows[Array(key.utf8)] = value }

    func drop(where isDropped: (String) -> Bool) { rows = rows.filter { !isDropped(String(decoding: $0.key, as: UTF8.self)) } }

    var keys: [String] { rows.keys.map { String(decoding: $0, as: UTF8.self) }.sorted() }

    private func bytes(_ value: Any?) -> [UInt8] { (value as? String).flatMap { Data(base64Encoded: $0) }.map { Array($0) } ?? [] }

    private func range(_ body: [String: Any]) -> String {
        let key = bytes(body["key"]), end = body["range_end"].map { bytes($0) }
        let limit = (body["limit"] as? String).flatMap { Int($0) } ?? Int.max
        let found = rows.keys.filter { isIn($0, from: key, to: end) }.sorted { $0.lexicographicallyPrecedes($1) }
        let rows = found.prefix(limit).map { key in
            let value = body["keys_only"] as? Bool == true ? "" : ",\"value\":\"\(Data(self.rows[key] ?? []).base64EncodedString())\""
            return "{\"key\":\"\(Data(key).base64EncodedString())\",\"create_revision\":\"2\"\(value)}"
        }
        let more = found.count > limit ? ",\"more\":true" : ""
        let header = "{\"cluster_id\":\"14841639068965178418\",\"revision\":\"7\"}"
        return "{\"header\":\(header),\"kvs\":[\(rows.joined(separator: ","))]\(more),\"count\":\"\(found.count)\"}"
    }

    private func isIn(_ key: [UInt8], from start: [UInt8], to end: [UInt8]?) -> Bool {
        guard let end else { return key == start }
        return !key.lexicographicallyPrecedes(start) && key.lexicographicallyPrecedes(end)
    }

    private func transaction(_ body: [String: Any]) throws(EtcdError) -> String {
        guard transactionsLeft > 0 else { throw EtcdError(.unreachable, "is gone") }
        transactionsLeft -= 1
        let compare = body["compare"] as? [[String: Any]] ?? []
        let holds = compare.allSatisfy { $0["target"] as? String == "CREATE" && rows[bytes($0["key"])] == nil }
        var responses: [String] = []
        for operation in (body[holds ? "success" : "failure"] as? [[String: [String: Any]]]) ?? [] {
            if let put = operation["request_put"] {
                rows[bytes(put["key"])] = bytes(put["value"])
                responses.append("{\"response_put\":{\"header\":{\"revision\":\"8\"}}}")
            } else if let delete = operation["request_delete_range"] {
                let key = bytes(delete["key"]), end = delete["range_end"].map { bytes($0) }
                rows = rows.filter { !isIn($0.key, from: key, to: end) }
                responses.append("{\"response_delete_range\":{\"header\":{\"revision\":\"8\"}}}")
            } else if let get = operation["request_range"] {
                responses.append("{\"response_range\":\(range(get))}")
            }
        }
        return "{\"header\":{\"revision\":\"8\"}\(holds ? ",\"succeeded\":true" : ""),\"responses\":[\(responses.joined(separator: ","))]}"
    }
}
