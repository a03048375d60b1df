import Foundation
import TestSupport

/// A file of Vectors/wire: valid messages of one format, and messages with one failure each, which a reader refuses.
struct WireVectors: Codable, Equatable {
    struct Vector: Codable, Equatable {
        /// The ASN.1 type in the format's document, and the number of the sample.
        let message: String
        /// The whole message in hexadecimal digits.
        let bytes: String
        /// The failure; nil for a valid message.
        let failure: Failure?
    }

    /// Each failure is in one layer: the DER encoding, or the message in it.
    enum Failure: String, Codable, CaseIterable {
        case surplusByte = "DER: a byte after the message"
        case missingByte = "DER: the last byte is missing"
        case longLength = "DER: a length in a longer form than needed"
        case endlessLength = "DER: a length without end"
        case otherTag = "DER: a SET in place of the SEQUENCE"
        case otherVersion = "message: another version"
        case unknownChoice = "message: a number that no message has"
        case surplusField = "message: a field that the type does not have"
    }

    /// The document that describes the format.
    let specification: String
    let vectors: [Vector]

    /// Creates the vectors of a format's samples: each sample, and for one of each type every failure that applies to it.
    init(specification: String, samples: [WireSample]) {
        self.specification = specification
        var types: Set<Substring> = []
        vectors = samples.flatMap { sample in
            let name = sample.testDescription.trimmingCharacters(in: .whitespaces)
            let valid = [Vector(message: name, bytes: hexadecimal(sample.bytes), failure: nil)]
            guard types.insert(name.prefix { $0 != " " }).inserted else { return valid }
            return valid
                + Failure.allCases.compactMap { failure in
                    Self.spoilt(sample.bytes, failure).map { Vector(message: name, bytes: hexadecimal($0), failure: failure) }
                }
        }
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Vectors/wire")

    /// Returns the message with this one failure; nil if it has no such part.
    private static func spoilt(_ message: [UInt8], _ failure: Failure) -> [UInt8]? {
        guard message.count >= 2, message[0] == 0x30 else { return nil }
        let header = message[1] < 0x80 ? 2 : 2 + Int(message[1] & 0x7F)
        let content = Array(message[header...])
        let isVersioned = content.starts(with: [2, 1]) && content.count > 2 && (1...2).contains(content[2])
        switch failure {
        case .surplusByte: return message + [0]
        case .missingByte: return message.dropLast()
        case .longLength:
            return message[1] < 0x80
                ? [0x30, 0x81, message[1]] + content : [0x30, message[1] + 1, 0] + message[2..<header] + content
        case .endlessLength: return [0x30, 0x80] + content + [0, 0]
        case .otherTag: return [0x31] + message.dropFirst()
        case .otherVersion: return isVersioned ? Array(message[..<header]) + [2, 1, 99] + content.dropFirst(3) : nil
        case .unknownChoice:
            guard isVersioned, content.count > 3, content[3] & 0xE0 == 0xA0, content[3] & 0x1F < 0x1F else { return nil }
            return Array(message[..<header]) + content.prefix(3) + [0xBE] + content.dropFirst(4)
        case .surplusField: return sequence(content + [0xBE, 0x02, 0x05, 0x00])
        }
    }

    private static func sequence(_ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<0x80: [0x30, UInt8(content.count)] + content
        case ..<0x100: [0x30, 0x81, UInt8(content.count)] + content
        default: [0x30, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
    }
}
