import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes

/// The export of the user's own items, one by one.
struct ExportRun {
    private let client: ServiceClient
    private let takesThisDevice: Bool
    private let progress = Progress()
    private(set) var written = 0
    private(set) var left = 0
    private(set) var stayed = 0

    init(_ client: ServiceClient, takesThisDevice: Bool) {
        self.client = client
        self.takesThisDevice = takesThisDevice
    }

    mutating func run(_ writer: inout some ExportWriter) throws {
        defer { progress.clear() }
        let records = ItemTable.sorted(try ItemKind.allCases.flatMap { kind in try client.described(kind).compactMap(\.record) })
        for record in records {
            if written % 100 == 0, written > 0 { progress.show("Exporting: \(written) of \(records.count)") }
            if record.protection.isThisDeviceOnly, !takesThisDevice { stayed += 1; continue }
            if let why = Self.cannotLeave(record) { reportOmitted(record, why); continue }
            do {
                try write(record, &writer)
            } catch let refusal as Refusal where Self.concernsOne(refusal) {
                reportOmitted(record, refusal.message)
            }
        }
        try writer.finish()
    }

    private mutating func write(_ record: ItemRecord, _ writer: inout some ExportWriter) throws {
        let secret: SecretBytes? = try client.read(record, reason: "export \(SafeText.line(record.name, max: 100))").takeSecret()
        switch secret {
        case .some(let secret): try writer.write(record, secret)
        case .none: return reportOmitted(record, "it has no secret")
        }
        written += 1
    }

    private static func cannotLeave(_ record: ItemRecord) -> String? {
        guard record.kind == .genericPassword || record.kind == .internetPassword else { return "only passwords are exported" }
        return record.accessControl?.needsApplicationPassword == true ? "it opens only with the password of its program" : nil
    }

    private mutating func reportOmitted(_ record: ItemRecord, _ why: String) {
        left += 1
        progress.clear()
        say("Not exported: \(record.shownWithOwner): \(why)")
    }

    /// Whether a refusal concerns only this item. A wrong passcode does not, since each attempt counts.
    private static func concernsOne(_ refusal: Refusal) -> Bool {
        switch refusal.reason {
        case .cancelled, .fallbackChosen, .userTimedOut, .interactionNotAllowed, .noPromptAgent, .passcodeNotSet, .biometryNotAvailable,
            .biometryNotEnrolled, .biometryLockedOut, .itemNotFound, .applicationPasswordMissing:
            true
        default: false
        }
    }
}
