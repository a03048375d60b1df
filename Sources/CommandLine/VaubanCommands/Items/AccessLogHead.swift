// The signed end of the access log, printed, and compared with the log later (Specs/access-log.md, "The head").

import Foundation
import VaubanKeychainClient
import VaubanKeychainWire
import VaubanLogHead
import VaubanRefusal
package import VaubanSignedNote

/// How a log compares with an earlier head of it.
package enum HeadComparison: Equatable {
    /// The log contains the record of the head, and this many after it.
    case contained(more: Int64)
    /// The log ends earlier, with the record of this number.
    case shorter(end: Int64)
    /// The log contains another record at this position.
    case another
    /// The enclave keeps this record, or a later one, as the log's end, and the log does not contain it.
    case missing
    /// The record has been discarded; the oldest one kept has this number. Without a number, the log starts again.
    case notKept(oldest: Int64)

    /// - Parameters:
    ///   - end: The head of the log as it is now.
    ///   - chain: The chain at the record of the earlier head, if the log has one.
    package init(_ head: LogHead, in end: LogHead, chain: [UInt8]?, oldest: Int64) {
        if head.number > end.number {
            self = .shorter(end: end.number)
        } else if let chain {
            self = chain == head.chain ? .contained(more: end.number - head.number) : .another
        } else if head.number == 0 || (head == end && end.isStart) {
            self = .contained(more: end.number - head.number)
        } else if oldest > head.number || end.isStart {
            self = .notKept(oldest: oldest)
        } else {
            self = .missing
        }
    }

    var isContained: Bool { if case .contained = self { true } else { false } }

    func sentence(about number: Int64) -> String {
        switch self {
        case .contained(0): "The log ends as it was signed, with log record \(number)."
        case .contained(let more):
            "The log contains log record \(number) as it was signed, and \(count(Int(more), "log record")) after it."
        case .shorter(let end):
            "The log ends with log record \(end), and \(number) was signed: log records are missing. Unless you restored this device from "
                + "a copy, it may have been tampered with: an earlier state of it was put back."
        case .another:
            "Log record \(number) is not the one that was signed: it is another log. Unless you restored this device from a copy, it "
                + "may have been tampered with: an earlier state of it was put back."
        case .missing: "Log record \(number) is missing: it was removed, or an earlier copy of the keychain was put back."
        case .notKept(let oldest):
            oldest == 0
                ? "The log no longer has log records: the keychain has been erased. Nothing can be compared."
                : "Log record \(number) is no longer kept; the log begins with \(oldest). Nothing can be compared."
        }
    }
}

extension KeychainClient {
    /// Compares an earlier head of this log with the log. Throws if it is of another log, or was not signed here.
    func compare(_ note: SignedNote) throws(Refusal) -> (LogHead, HeadComparison) {
        guard let head = note.head else {
            throw Refusal(.badParameter, "This is not a signed log head; vauban log --head prints one")
        }
        let reply = try logHead(LogHeadQuery(at: head.number > 0 ? head.number : nil))
        guard let end = reply.end else { throw Refusal(.internalError, "the enclave signed something else") }
        guard head.origin == end.origin else {
            throw Refusal(.badParameter, "This is the end of another device's log, or another user's, or this device was set up anew")
        }
        guard reply.head.noteKeys.contains(where: { $0.verifies(note) }) else {
            throw Refusal(
                .badParameter, "The signature is not one of this keychain: the file was altered, or the keychain was erased since")
        }
        return (head, HeadComparison(head, in: end, chain: reply.chain, oldest: reply.oldest))
    }
}

extension SignedLogHead {
    /// The keys that have a valid text.
    var noteKeys: [NoteKey] { keys.compactMap { NoteKey(text: $0.text) } }
}

extension LogHeadReply {
    /// The signed head, if the signature is valid under the first key.
    var end: LogHead? {
        guard let note = SignedNote(head.note), head.noteKeys.first?.verifies(note) == true else { return nil }
        return note.head
    }

    /// The head in the form that vauban log --head shows.
    var shown: ShownHead { ShownHead(note: head.note, keys: head.noteKeys) }
}

/// A signed end of a log in its printed forms: the text as the enclave signed it, or JSON with the keys that verify it.
struct ShownHead {
    let note: [UInt8]
    let keys: [NoteKey]

    var text: String { String(decoding: note, as: UTF8.self) }

    func json() throws -> String {
        guard let head = SignedNote(note)?.head else { throw Refusal(.internalError, "the enclave signed something else") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let shown = Shown(
            log: head.origin, record: head.number, chain: Data(head.chain).base64EncodedString(), note: text, keys: keys.map(\.text))
        return SafeText.json(String(decoding: try encoder.encode(shown), as: UTF8.self)) + "\n"
    }

    private struct Shown: Encodable {
        let log: String
        let record: Int64
        let chain: String
        let note: String
        let keys: [String]
    }
}
