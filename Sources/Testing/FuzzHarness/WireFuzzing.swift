import Enclave
import EnclaveWire
import VaubanDER

/// A fuzzer of consecutive messages to the enclave's socket. Decodes each as every type of the socket, and applies requests and events to
/// one vault in order, as the dispatch table does.
package struct WireFuzzing {
    private static let messagesMax = 24
    /// The files with and without a passcode.
    private let files: [[StateName: [UInt8]]]

    package init() throws { files = try [true, false].map(KnownState.files) }

    /// Runs one input. Returns the number of item keys that were returned, so that tests can verify that promises about keys are exercised.
    @discardableResult package func run(_ input: [UInt8]) throws -> Int {
        _ = try EnclaveMessages.read(input)
        let pieces = EnclaveMessages.split(input, max: Self.messagesMax)
        var steps: [(Play) throws -> Void] = []
        for piece in pieces {
            // A single message was decoded above.
            if pieces.count > 1 { _ = try EnclaveMessages.read(piece) }
            if let request = try? EnclaveRequest(derBytes: piece) { steps.append { try $0.send(request) } }
            if let event = try? DeviceEvent(derBytes: piece) { steps.append { try $0.deliver(event.kind) } }
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

    /// Returns whether bytes are a message of the socket. Used to maintain a corpus.
    package static func isMessage(_ bytes: [UInt8]) throws -> Bool { try EnclaveMessages.read(bytes) > 0 }
}
