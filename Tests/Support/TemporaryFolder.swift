internal import Foundation
internal import Glibc

/// A private folder that is removed with its owner.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        let parent = URL(fileURLWithPath: NSTemporaryDirectory()).path
        var template = Array("\(parent)/vauban-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
