import EnclaveWire
import FuzzFinding
import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
import VaubanUserModel

/// Every message type of the enclave's socket. Each value must have exactly one encoding.
enum EnclaveMessages {
    private static let readers: [@Sendable ([UInt8]) throws(Finding) -> Bool] = [
        reader(EnclaveRequest.self), reader(EnclaveReply.self), reader(LeaseRecall.self), reader(LeaseErased.self),
        reader(LeaseStanding.self), reader(KeyUseNotice.self), reader(KeyUsesNoted.self), reader(PromptNotice.self),
        reader(PromptReport.self), reader(WitnessRequest.self), reader(WitnessAnswer.self), reader(ReaderNotice.self),
        reader(ReaderReport.self), reader(DeviceEvent.self), reader(DeviceEventDone.self), reader(EnclaveKeyCard.self),
        reader(RowBinding.self), reader(AccessControl.self), reader(KeyRequest.self), reader(KeyReply.self),
        reader(EnclaveKey.self),
    ]

    /// Returns the number of types that can be decoded from the bytes.
    static func read(_ bytes: [UInt8]) throws(Finding) -> Int {
        var count = 0
        for reader in readers where try reader(bytes) { count += 1 }
        return count
    }

    private static func reader<Value: DERReadable & DERWritable & Hashable & SendableMetatype>(
        _ type: Value.Type
    ) -> @Sendable ([UInt8]) throws(Finding) -> Bool {
        { (bytes) throws(Finding) in
            guard let value = try? Value(derBytes: bytes) else { return false }
            let again: [UInt8]
            do { again = try value.encoded() } catch { throw Finding("\(type) was decoded and cannot be encoded: \(error)") }
            try require(again == bytes, "\(type) has two encodings")
            try require((try? Value(derBytes: again)) == value, "\(type) does not decode to the encoded value")
            return true
        }
    }

    /// Splits an input into consecutive DER values; the remainder is the last piece.
    static func split(_ bytes: [UInt8], max: Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty, pieces.count < max {
            let count = length(rest) ?? rest.count
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    /// Returns the length of the first value with its header; nil if it is incomplete.
    private static func length(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 2 else { return nil }
        let first = Int(bytes[bytes.startIndex + 1])
        var header = 2
        var content = first
        if first >= 0x80 {
            let digits = first & 0x7F
            guard (1...2).contains(digits), bytes.count >= 2 + digits else { return nil }
            header += digits
            content = bytes.dropFirst(2).prefix(digits).reduce(0) { $0 << 8 | Int($1) }
        }
        return header + content <= bytes.count ? header + content : nil
    }
}
