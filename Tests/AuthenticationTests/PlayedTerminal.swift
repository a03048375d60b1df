import Foundation
import TestSupport
import VaubanDER
import VaubanLinuxHost
import VaubanUserModel

extension PlayedTerminal {
    /// The command line of this build on a terminal, connected to a room of the test.
    convenience init(before address: ServerAddress, _ arguments: [String], steps: String) throws {
        let home = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: "\(home.path)/run", withDestinationPath: address.folder)
        try self.init(["\(BuiltPrograms.folder)/vauban"] + arguments, home: home, steps: steps)
    }
}

extension FakeEnclave {
    /// Returns a key card to which agents can seal, although its private key is unknown: the base point of the curve (RFC 7748, section
    /// 4.1).
    static func realKeyCard() throws -> Descriptor {
        try SealedMemory.make(EnclaveKeyCard(publicKey: [9] + [UInt8](repeating: 0, count: 31)).encoded())
    }
}
