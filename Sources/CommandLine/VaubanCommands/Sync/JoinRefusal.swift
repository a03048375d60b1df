import VaubanRefusal
import VaubanSyncModel

/// Why a member does not admit a device by its token, as the member writes it for that device (Specs/sync.md, "Joining by a token"). The
/// carrier could write this too, so a device that reads it only reports it and keeps waiting.
enum JoinRefusal: String, CaseIterable {
    /// Its token is no longer valid.
    case token
    /// Its request was altered, or is incomplete.
    case request
    /// The circle is full, or the member runs an earlier version of Vauban.
    case full
    /// The member's clock is wrong.
    case clock

    private static let family = "VAUBAN JOIN REFUSED "
    private static let heading = "VAUBAN JOIN REFUSED 2\n"
    private static let bytesMax = 64

    init?(_ reason: Refusal.Reason) {
        switch reason {
        case .notAllowedHere: self = .token
        case .badParameter: self = .request
        case .unsupported: self = .full
        case .unavailable: self = .clock
        default: return nil
        }
    }

    /// Whether waiting is pointless for the device.
    var isFinal: Bool { self == .token }

    /// Writes the refusal for a device, unless the same one is in the folder already.
    func write(for device: String, in folder: any SyncCarrier) throws(Refusal) {
        let (name, bytes) = (JoinFile.refusal.name(of: device), Array("\(Self.heading)\(rawValue)\n".utf8))
        guard try folder.read(name, in: .join) != bytes else { return }
        try folder.replace(bytes, named: name, in: .join)
    }

    /// Returns the refusal that a member wrote for a device; nil if there is none. Version 1 can only say that the token is no longer
    /// valid.
    static func read(for device: [UInt8], in folder: any SyncCarrier) throws(Refusal) -> JoinRefusal? {
        guard let bytes = try folder.read(JoinFile.refusal.name(of: device), in: .join), bytes.count <= bytesMax else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        if let reason = allCases.first(where: { text == "\(heading)\($0.rawValue)\n" }) { return reason }
        return text == "\(family)1\n" ? .token : nil
    }

    var refusal: Refusal {
        switch self {
        case .token:
            Refusal(
                .notAllowedHere,
                "This device was not admitted: its token was used already, was revoked, or has expired, or the device that made it was "
                    + "removed. Run vauban sync leave here, and join with a new token")
        case .request:
            Refusal(
                .unavailable,
                "This device was not admitted: its request was altered on its way, or not copied completely. It has asked again; if this "
                    + "stays so, run vauban sync leave here, and join with a new token")
        case .full:
            Refusal(
                .unavailable,
                "This device is not admitted yet: the circle has as many devices or companions as it can have, or a later Vauban is needed "
                    + "on the device that made the token; vauban sync says which there")
        case .clock:
            Refusal(.unavailable, "This device is not admitted yet: the clock of the device that made the token is wrong; set it there")
        }
    }
}
