internal import Foundation
public import Testing

/// A file of Vectors/formats: data of one format, each with the fields that a reader finds in it or with the one failure for which it is
/// refused (Vectors/README.md).
public struct FormatVectors: Decodable, Sendable {
    public struct Vector: Decodable, Sendable {
        public let name: String
        /// What a reader finds; nil if the data is invalid.
        let fields: [String: String]?
        let failure: String?
        private let text: String?
        private let bytes: String?
        private let given: [String: String]?

        /// The data.
        public var content: [UInt8] { text.map { Array($0.utf8) } ?? [UInt8](hexadecimal: bytes ?? "") ?? [] }

        /// Returns an input that a reader of the data needs in addition.
        public func given(_ name: String) throws -> String { try #require(given?[name], "the vector has no \(name)") }

        public func givenBytes(_ name: String) throws -> [UInt8] { try #require([UInt8](hexadecimal: given(name))) }

        /// Returns an input that only some vectors have.
        public func optionalBytes(_ name: String) -> [UInt8]? { given?[name].flatMap { [UInt8](hexadecimal: $0) } }
    }

    let vectors: [Vector]

    /// Loads the file of this name, without its extension.
    public init(_ name: String, file: String = #filePath) throws {
        let root = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: root.appendingPathComponent("Vectors/formats/\(name).json")))
    }

    /// Expects that `read` returns the fields of each valid vector, and nil or an error for each invalid one. The file must have both.
    public func check(sourceLocation: SourceLocation = #_sourceLocation, _ read: (Vector) throws -> [String: String]?) {
        #expect(vectors.contains { $0.failure == nil } && vectors.contains { $0.failure != nil }, sourceLocation: sourceLocation)
        for vector in vectors {
            let found: [String: String]?
            let why: String
            do {
                found = try read(vector)
                why = "none"
            } catch {
                found = nil
                why = "\(error)"
            }
            #expect(found == vector.fields, "\(vector.name), error: \(why)", sourceLocation: sourceLocation)
        }
    }
}
