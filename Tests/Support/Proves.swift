// A test claims rows of the acceptance list with `.proves("C-010")`. The claim is recorded before the test runs; the trait cannot know
// whether it held, since a failed expectation throws nothing. `acceptance` joins the claims with the runner's own report, so a test that
// fails, stops halfway or ends the process proves nothing.

internal import Glibc
public import Testing

extension Trait where Self == AcceptanceClaim {
    /// Claims that the test exercises exactly what the rows require, on the real path.
    public static func proves(_ rows: String...) -> Self { Self(rows: rows, strength: .literal) }

    /// Claims that the test exercises the strongest Linux equivalent of rows that only Apple's hardware can satisfy literally.
    public static func provesEquivalent(_ rows: String...) -> Self { Self(rows: rows, strength: .equivalent) }
}

public struct AcceptanceClaim: TestTrait {
    let rows: [String]
    let strength: Strength

    /// The spelling in the claims file, which `acceptance` and the script runner share.
    enum Strength: String { case literal, equivalent }

    public func prepare(for test: Test) async throws {
        if let malformed = rows.first(where: { !Self.isRow($0) }) { throw ClaimFault(description: "not a row: \(malformed)") }
        guard let file = getenv("VAUBAN_ACCEPTANCE_CLAIMS") else { return }
        // Whole lines in one write to a file opened for appending: tests run in parallel, and the kernel keeps such writes separate.
        let lines = rows.map { "\($0)\t\(strength.rawValue)\t\(test.id)\n" }.joined()
        try Self.append(lines, to: String(cString: file))
    }

    private static func append(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw ClaimFault(description: "cannot open the claims file: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw ClaimFault(description: "cannot write the claim")
        }
    }

    /// Returns whether the text is one letter, a hyphen and three digits; any other claim would appear in no table.
    private static func isRow(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 5 && (0x41...0x5A).contains(bytes[0]) && bytes[1] == 0x2D
            && bytes[2...].allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// A claim that could not be recorded. It fails its test, since a lost claim would look like a row without proof.
struct ClaimFault: Error, CustomStringConvertible {
    let description: String
}
