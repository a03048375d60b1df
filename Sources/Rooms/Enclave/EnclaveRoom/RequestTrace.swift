// The steps of the evidence protocol, for a test that replays them against its model (Specs/evidence-protocol.md). The shipped enclave
// records none.

import Enclave
import EnclaveWire
import VaubanLinuxHost
import VaubanUserModel

/// The trace of one request. Words with a colon are names, which the recorder replaces with small numbers.
final class RequestTrace {
    private let write: (@Sendable (String) -> Void)?
    private let request: String

    init(_ room: EnclaveRoom, caller: Peer, operation: Operation) {
        write = room.host.trace
        guard let write else { request = ""; return }
        request = "r:\(hex((try? Entropy.bytes(8)) ?? []))"
        let word =
            switch operation.kind {
            case .readItem: "read"
            case .evaluatePolicy: "evaluate"
            case .unlock: "unlock"
            case .changeCredential: "change"
            case .consent: "consent"
            case .sign, .decrypt, .exchangeKeys, .applicationPassword: "use"
            }
        let item = operation.item.isEmpty ? "0" : "i:\(hex(operation.item))"
        write("request \(request) p:\(caller.uid) c:\(caller.pid) \(word) \(item)")
    }

    func issued(_ nonce: [UInt8]) { write?("issue n:\(hex(nonce)) \(request)") }
    func asked(_ nonce: [UInt8]) { write?("ask n:\(hex(nonce))") }
    func askedReader(_ nonce: [UInt8]) { write?("askreader n:\(hex(nonce))") }
    func shown() { write?("shown \(request)") }
    func used(_ nonce: [UInt8]) { write?("use n:\(hex(nonce))") }
    func released(_ nonce: [UInt8]) { write?("release \(request) n:\(hex(nonce))") }
    func end(_ outcome: PromptOutcome) { write?("end \(request) \(outcome)") }
    func evidence(_ nonce: [UInt8], _ factor: String, isRight: Bool) {
        write?("evidence n:\(hex(nonce)) \(factor) \(isRight ? "right" : "wrong")")
    }
    func verdict(_ verdict: ReaderVerdict) { write?("verdict n:\(hex(verdict.nonce)) \(verdict.outcome)") }

    func answered(_ nonce: [UInt8], _ answer: PromptAnswer) {
        let kind =
            switch answer {
            case .passcode, .consent, .credential: "passcode"
            case .cancelled: "cancelled"
            case .fallback: "fallback"
            case .nobody: "nobody"
            case .seen: "seen"
            }
        write?("answer n:\(hex(nonce)) \(kind)")
    }

}

private func hex(_ bytes: [UInt8]) -> String { bytes.map { String($0, radix: 16) }.joined(separator: ".") }
