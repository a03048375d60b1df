import TestSupport
import Testing
import VaubanAccessPolicy
import VaubanAssociations
import VaubanDER
import VaubanKeychainModel
import VaubanOneTimeCodes
import VaubanSecretBytes
import VaubanSignedNote

/// The vectors of names, and of the contents of items.
@Suite struct FormatVectorTests {
    @Test("Names of programs are well formed or refused as the vectors say") func applicationNames() throws {
        try FormatVectors("application-names").check { vector in
            let text = String(decoding: vector.content, as: UTF8.self)
            guard ApplicationIdentifier(text: text).isWellFormed else { return nil }
            let parts = text.split(separator: ":", maxSplits: 1)
            return ["kind": String(parts[0]), "name": String(parts[1])]
        }
    }

    @Test("Signed ends of access logs are read, written and verified, or refused, as the vectors say") func logHeads() throws {
        try FormatVectors("log-heads").check { vector in
            guard let note = SignedNote(vector.content), let head = note.head, let key = NoteKey(text: try vector.given("key")) else {
                return nil
            }
            let time = key.cosignatureTime(in: note)
            guard key.verifies(note) || time != nil else { return nil }
            #expect(note.bytes == vector.content && LogHead(text: head.text) == head)
            let fields = [
                "device": hexadecimal(head.device), "user": "\(head.user)", "number": "\(head.number)",
                "chain": hexadecimal(head.chain),
            ]
            return time.map { fields.merging(["time": "\($0)"]) { $1 } } ?? fields
        }
    }

    @Test("Attributes of the Secret Service are decoded or refused as the vectors say") func secretServiceAttributes() throws {
        try FormatVectors("secret-service").check { vector in
            let read = try SecretServiceAttributes(derBytes: vector.content)
            return [
                "collection": read.collection, "instance": hexadecimal(read.instance),
                "attributes": read.attributes.map { "\($0.name)=\($0.value)" }.joined(separator: "\n"),
            ]
        }
    }

    @Test("Entries of a report of another provider are read and written, or refused, as the vectors say") func transferEntries() throws {
        try FormatVectors("transfer-entries").check { vector in
            let entry = try TransferEntry(derBytes: vector.content)
            #expect(try entry.encoded() == vector.content)
            let (kind, parts): (Int, [String: String]) =
                switch entry {
                case .provider(let name): (1, ["text": name])
                case .notice(let sentence): (2, ["text": sentence])
                case .total(let number): (3, ["number": "\(number)"])
                case .collection(let record): (4, ["record": hexadecimal(try record.encoded())])
                case .item(let place, let record): (5, ["text": place, "record": hexadecimal(try record.encoded())])
                case .left(let place, let reason): (6, ["text": place, "reason": reason])
                case .failure(let sentence, let number): (7, ["text": sentence, "number": "\(number)"])
                case .end: (8, [:])
                case .picture(let path): (9, ["text": path])
                }
            return ["kind": "\(kind)", "text": "", "reason": "", "number": "0", "record": ""].merging(parts) { $1 }
        }
    }

    @Test("Entries of associated domains are parsed or refused as the vectors say") func associatedDomains() throws {
        try FormatVectors("associated-domains").check { vector in
            let domain = try AssociatedDomain(String(decoding: vector.content, as: UTF8.self))
            return [
                "service": domain.service, "host": domain.host, "covers": domain.covers(try vector.given("host")) ? "yes" : "no",
            ]
        }
    }

    @Test("Association files are read or refused as the vectors say") func associationFiles() throws {
        try FormatVectors("association-files").check { vector in
            let file = try AssociationFile(vector.content)
            return [
                "webcredentials": file.webCredentials.joined(separator: " "),
                "activitycontinuation": file.activityContinuation.joined(separator: " "),
                "applinks": file.links.map { "\($0.application)=\($0.paths.joined(separator: ","))" }.joined(separator: " "),
            ]
        }
    }

    @Test("Addresses of one-time codes give their code or are refused as the vectors say") func oneTimeCodes() throws {
        try FormatVectors("one-time-codes").check { vector in
            let text = SecretBytes(copying: vector.content)
            let address = try text.withUnsafeBytes { bytes throws(OneTimeCodeError) in try OneTimeCodeAddress(bytes) }
            let time = try #require(Int64(try vector.given("time")))
            let step = address.key.step(at: time)
            let counter =
                switch address.key.movement {
                case .time: step
                case .counter(let first): first
                }
            guard let counter else { return nil }
            let code = address.key.code(at: counter).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            return ["issuer": address.issuer, "account": address.account, "code": code]
        }
    }
}
