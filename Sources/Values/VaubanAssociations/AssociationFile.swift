// The file apple-app-site-association, in which a website lists the applications that belong to it (Specs/associated-domains.md).

internal import VaubanJSON

/// A website's association file. It is JSON, read strictly: one wrong part refuses the whole file.
package struct AssociationFile: Hashable, Sendable {
    package static let bytesMax = 128 * 1024
    package static let applicationsMax = 200

    /// The links of a site that an application may open, from `applinks`: paths in which `*` stands for any text and `?` for any one
    /// character.
    package struct Links: Hashable, Sendable {
        package let application: String
        package let paths: [String]
    }

    /// The applications that share the site's passwords.
    package let webCredentials: [String]
    /// The applications that continue activities of the site.
    package let activityContinuation: [String]
    package let links: [Links]

    package init(_ bytes: [UInt8]) throws(AssociationError) {
        guard bytes.count <= Self.bytesMax else { throw .size }
        // The first byte of a CMS message, as files were before iOS 9.
        guard bytes.first != 0x30 else { throw .signed }
        let outcome = bytes.withUnsafeBytes { bytes -> Result<AssociationFile, AssociationError> in
            do throws(AssociationError) { return .success(try AssociationFile(in: bytes)) } catch { return .failure(error) }
        }
        self = try outcome.get()
    }

    private init(in bytes: UnsafeRawBufferPointer) throws(AssociationError) {
        let file = AssociationSection(try Self.document(bytes), bytes)
        guard let file else { throw .object }
        webCredentials = try file.section("webcredentials")?.applications() ?? []
        activityContinuation = try file.section("activitycontinuation")?.applications() ?? []
        _ = try file.section("appclips")?.applications()
        links = try file.section("applinks")?.links() ?? []
    }

    /// Returns the one value of the document.
    private static func document(_ bytes: UnsafeRawBufferPointer) throws(AssociationError) -> JSONValue {
        var scanner = JSONScanner(bytes, .foreign)
        do throws(JSONError) {
            guard let first = try scanner.next(), try scanner.next() == nil else { throw JSONError(line: 1, why: "one value is expected") }
            return first.value
        } catch {
            throw .json
        }
    }
}
