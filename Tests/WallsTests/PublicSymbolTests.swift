import Foundation
import TestSupport
import Testing

/// The public names for applications, read from the declarations.
@Suite struct PublicSymbolTests {
    /// Public declarations of Apple's two modules whose names contain "passcode". Each is a constant or a code; none is a query, since its
    /// answer could be outdated when it is used (C-065).
    private static let withPasscode: Set<String> = [
        "kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly", "devicePasscode", "passcodeNotSet", "kLAErrorPasscodeNotSet",
        "touchIDOrPasscode", "errSecPasscodeNotSet",
    ]

    @Test("No public name reveals whether a passcode is set", .proves("C-065"))
    func noPublicNameRevealsWhetherAPasscodeIsSet() throws {
        var count = 0
        for target in try SourceTree.targets() where ["VaubanSecurity", "VaubanLocalAuthentication"].contains(target.name) {
            for file in SourceTree.files(in: target.folder, withExtension: ["swift"]) {
                for line in try SourceTree.text(of: file).components(separatedBy: "\n") {
                    let words = line.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }).map(String.init)
                    guard words.contains("public") || words.contains("open") else { continue }
                    count += 1
                    guard let name = words.first(where: { $0.lowercased().contains("passcode") }) else { continue }
                    #expect(Self.withPasscode.contains(name), "\(SourceTree.name(of: file)): \(line)")
                    #expect(!words.contains("func"), "\(SourceTree.name(of: file)): \(line)")
                }
            }
        }
        #expect(count > 500, "too few declarations were found for this to mean anything")
    }
}
