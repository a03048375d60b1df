import Crypto
import VaubanDER
import VaubanRefusal
import VaubanSyncModel

/// The devices that a circle has ever had, as its statements name them (Specs/sync.md, "Statements").
struct CircleHistory {
    private(set) var members: Set<[UInt8]> = []
    private(set) var companions: Set<[UInt8]> = []

    /// Reads the statements backwards, from the last one that this device followed to the first. Each must match the digest in its
    /// successor, so the carrier cannot add a device. Throws if a statement is missing or does not match.
    init(of circle: CircleView, in folder: any SyncCarrier) throws(Refusal) {
        var (number, digest) = (circle.number, circle.digest)
        while number > 0 {
            guard let content = try Self.content(of: StatementMark(number: number, digest: digest), in: folder) else {
                let name = SyncFolder.name(of: number)
                throw Refusal(
                    .badParameter, "The folder lacks circle/\(name), or has another: it is not copied completely; try again when it is")
            }
            members.formUnion(content.members)
            companions.formUnion(content.companions)
            (number, digest) = (number - 1, content.previous)
        }
    }

    /// Returns the digest of the statement before this one; nil if the folder lacks this one, or has another.
    static func digest(before mark: StatementMark, in folder: any SyncCarrier) throws(Refusal) -> [UInt8]? {
        do throws(Refusal) { return try content(of: mark, in: folder)?.previous } catch {
            // The path exists, but is not a file.
            guard error.reason == .badParameter else { throw error }
            return nil
        }
    }

    private static func content(of mark: StatementMark, in folder: any SyncCarrier) throws(Refusal) -> Content? {
        guard let bytes = try folder.read(SyncFolder.name(of: mark.number), in: .circle), Array(SHA256.hash(data: bytes)) == mark.digest,
            let statement = try? Signed(derBytes: bytes)
        else { return nil }
        return try? Content(derBytes: statement.content)
    }

    /// Returns the devices that are no longer in this circle.
    func removed(from circle: CircleView) -> (members: [[UInt8]], companions: [[UInt8]]) {
        let there = Set(circle.members.map(\.device) + circle.companions.map(\.device.device))
        return (Array(members.subtracting(there)), Array(companions.subtracting(there)))
    }

    // MARK: The parts of a statement that are read

    private struct Signed: DERReadable {
        let content: [UInt8]

        init(from fields: inout DERFields) throws {
            content = try fields.octets("statement", in: 1...CircleRequest.documentBytesMax)
            _ = try fields.octets("signature", in: CircleRequest.signatureBytes...CircleRequest.signatureBytes)
        }
    }

    private struct Content: DERReadable {
        let previous: [UInt8]
        let members: [[UInt8]]
        let companions: [[UInt8]]

        init(from fields: inout DERFields) throws {
            let all = 0...CircleRequest.documentBytesMax
            try fields.version(1)
            _ = try fields.octets("circle", in: all)
            _ = try fields.integer("number", in: 1...CircleRequest.numberMax)
            previous = try fields.octets("previous", in: CircleRequest.digestBytes...CircleRequest.digestBytes)
            _ = try fields.integer("epoch", in: 1...Int64(CircleRequest.epochsMax))
            _ = try fields.octets("signer", in: all)
            members = try fields.list("shares", max: CircleRequest.membersMax, of: Share.self).map(\.device)
            _ = try fields.octets("members", in: all)
            _ = try fields.optionalOctets(0, "earlier keys", in: all)
            companions =
                try fields.optional(1, "companions") { list in
                    var all: [[UInt8]] = []
                    while !list.isEmpty { all.append(try list.value("companion", as: Part.self).share.device) }
                    return all
                } ?? []
            _ = try fields.optional(2, "recovery") { try $0.value("recovery", as: Recovery.self) }
        }
    }

    private struct Share: DERReadable {
        let device: [UInt8]

        init(from fields: inout DERFields) throws {
            device = try fields.octets("device", in: CircleRequest.deviceBytes...CircleRequest.deviceBytes)
            for _ in 0..<2 { _ = try fields.octets("key", in: 0...CircleRequest.documentBytesMax) }
        }
    }

    private struct Part: DERReadable {
        let share: Share

        init(from fields: inout DERFields) throws {
            share = try fields.value("share")
            _ = try fields.octets("roster", in: 0...CircleRequest.documentBytesMax)
            _ = try fields.optionalOctets(0, "earlier keys", in: 0...CircleRequest.documentBytesMax)
        }
    }

    private struct Recovery: DERReadable {
        init(from fields: inout DERFields) throws {
            _ = try fields.value("share", as: Share.self)
            _ = try fields.optionalOctets(0, "proof", in: CircleRequest.signatureBytes...CircleRequest.signatureBytes)
        }
    }
}
