import Foundation
import VaubanJSON

/// One message of a watch: `{"result":{…}}`, or `{"error":{…}}`.
struct EtcdWatchMessage {
    let cluster: Int64
    /// The revision of the whole store when the message was created.
    let revision: Int64
    let isCreated: Bool
    /// Why the watch has ended, nil if it has not; the number is the first revision that still exists, or 0.
    let cancellation: (reason: String, compacted: Int64)?
    let changes: [(key: [UInt8], revision: Int64)]
    /// Whether the next message continues the same revision.
    let isFragment: Bool

    /// - Throws: The fault in the message, or `garbage`.
    init(_ line: [UInt8]) throws(EtcdError) {
        let read: Result<EtcdWatchMessage, EtcdError>? = line.withUnsafeBytes { buffer in
            guard let document = JSONObject(document: buffer, .items) else { return nil }
            if let error = document.object("error") {
                let code = error.number("grpc_code") ?? error.number("code") ?? 2
                return .failure(EtcdError(code: code, message: error.text("message") ?? ""))
            }
            return document.object("result").flatMap { EtcdWatchMessage(result: $0) }.map { .success($0) }
        }
        guard let read else { throw .garbage }
        self = try read.get()
    }

    private init?(result: JSONObject) {
        guard let header = result.object("header"), let revision = Self.number(header, "revision"),
            let cluster = header.text("cluster_id").flatMap({ UInt64($0) })
        else { return nil }
        self.revision = revision
        self.cluster = Int64(bitPattern: cluster)
        isCreated = result.isTrue("created")
        isFragment = result.isTrue("fragment")
        guard let compacted = Self.number(result, "compact_revision") else { return nil }
        cancellation = result.isTrue("canceled") || compacted > 0 ? (result.text("cancel_reason") ?? "", compacted) : nil
        var changes: [(key: [UInt8], revision: Int64)] = []
        for event in result.objects("events") {
            guard let row = event.object("kv"), let key = row.text("key").flatMap({ Data(base64Encoded: $0) }),
                let revision = Self.number(row, "mod_revision"), revision > 0
            else { return nil }
            changes.append((Array(key), revision))
        }
        self.changes = changes
    }

    /// Returns a number of 63 bits, which is written as text and omitted if it is 0. Returns nil for anything else, for negative numbers,
    /// and for the greatest one, which has no successor.
    private static func number(_ object: JSONObject, _ name: String) -> Int64? {
        guard object[name] != nil else { return 0 }
        guard let number = object.text(name).flatMap({ Int64($0) }), number >= 0, number < .max else { return nil }
        return number
    }
}
