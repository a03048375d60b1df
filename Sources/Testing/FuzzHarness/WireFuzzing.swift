import Enclave
import EnclaveWire
import VaubanDER

/// Messages of the enclave's door as an input, one after the other. Each is read as everything that the door reads; what
/// reads as a request or an event is carried out on one vault, in order, as the door's dispatch table does it.
package struct WireFuzzing {
    private static let messagesMax = 24
    /// With a passcode, and without.
    private let files: [[StateName: [UInt8]]]

    package init() throws { files = try [true, false].map(KnownState.files) }

    /// Answers how many item keys came out, so that a promise about them can be seen to be put to the test.
    @discardableResult package func run(_ input: [UInt8]) throws -> Int {
        _ = try EnclaveMessages.read(input)
        let pieces = EnclaveMessages.split(input, max: Self.messagesMax)
        var steps: [(Play) throws -> Void] = []
        for piece in pieces {
            // A single message was read above.
            if pieces.count > 1 { _ = try EnclaveMessages.read(piece) }
            if let request = try? EnclaveRequest(derBytes: piece) { steps.append { try $0.carryOut(request) } }
            if let event = try? DeviceEvent(derBytes: piece) { steps.append { try $0.happen(event.kind) } }
        }
        var opened = 0
        guard !steps.isEmpty else { return opened }
        for files in files {
            let play = Play(FuzzMachine(files))
            for step in steps { try step(play) }
            opened += play.opened
        }
        return opened
    }

    /// Whether bytes are a message of the door; for whoever keeps a corpus.
    package static func isMessage(_ bytes: [UInt8]) throws -> Bool { try EnclaveMessages.read(bytes) > 0 }
}
