import Foundation
import Testing

/// The licenses of what a release contains.
@Suite struct NoticesTests {
    private struct Resolved: Decodable {
        let pins: [Pin]
    }

    private struct Pin: Decodable {
        let identity: String
    }

    @Test("Install/NOTICES names every package that Vauban is built from") func everyPackageIsNamed() throws {
        let resolved = try Data(contentsOf: SourceTree.root.appendingPathComponent("Package.resolved"))
        let packages = try JSONDecoder().decode(Resolved.self, from: resolved).pins.map(\.identity)
        #expect(!packages.isEmpty)
        let notices = try SourceTree.text(of: SourceTree.root.appendingPathComponent("Install/NOTICES")).split(separator: "\n")
        for package in packages {
            #expect(notices.contains { $0.hasPrefix("\(package): ") }, "Install/NOTICES does not name \(package)")
        }
    }
}
