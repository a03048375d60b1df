import TestSupport
import Testing
import VaubanEtcd
import VaubanSyncCarrierWire

/// The vectors of the carrier for etcd.
@Suite struct FormatVectorTests {
    @Test("Messages of the sync carrier are read and written, or refused, as the vectors say") func messages() throws {
        try FormatVectors("sync-carrier").check { vector in
            switch try vector.given("message") {
            case "request":
                guard let request = CarrierRequest(bytes: vector.content) else { return nil }
                #expect(request.bytes == vector.content)
                return [
                    "operation": "\(request.operation.rawValue)", "section": request.section, "name": request.name,
                    "other": request.other.map { "\($0.section) \($0.name)" } ?? "", "file": hexadecimal(request.file),
                ]
            case "reply":
                guard let reply = CarrierReply(bytes: vector.content), let kind = reply.bytes.first else { return nil }
                #expect(reply.bytes == vector.content)
                return Self.fields(of: reply).merging(["kind": "\(kind)"]) { $1 }
            default: return nil
            }
        }
    }

    private static func fields(of reply: CarrierReply) -> [String: String] {
        switch reply {
        case .ready(let text): ["text": text]
        case .names(let names): ["names": names.joined(separator: " ")]
        case .file(let file): ["file": hexadecimal(file)]
        case .refused(let fault, let text): ["fault": "\(fault.rawValue)", "text": text]
        case .changed(let sections): ["sections": sections.joined(separator: " ")]
        case .revision(let cluster, let revision): ["cluster": "\(cluster)", "revision": "\(revision)"]
        case .done, .absent, .taken, .present: [:]
        }
    }

    @Test("The value that etcd stores for a file is read and written, or refused, as the vectors say") func heads() throws {
        try FormatVectors("etcd-heads").check { vector in
            guard let head = EtcdHead(value: vector.content, fileBytesMax: CarrierGrammar.fileBytesMax) else { return nil }
            #expect(head.value == vector.content)
            return switch head {
            case .whole(let file): ["file": hexadecimal(file)]
            case .split(let length, let digest): ["length": "\(length)", "digest": hexadecimal(digest)]
            }
        }
    }
}
