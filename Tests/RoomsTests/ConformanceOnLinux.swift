// The preparations for the conformance suite: on an Apple system there would be nothing to do.

import Foundation
import Security

enum Conformance {
    /// Starts the shared rooms. Call it before any keychain call.
    static func prepare() throws { _ = try SharedRooms.use() }

    /// Returns a file of Vectors/certificates.
    static func certificate(_ name: String) throws -> Data {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: root.appendingPathComponent("Vectors/certificates/\(name)"))
    }
}
