import TestSupport
import Testing
import VaubanLocalAuthentication

/// The vectors of stored rights.
@Suite struct FormatVectorTests {
    @Test("The record of a kept right is read or refused as the vectors say") func rights() throws {
        try FormatVectors("rights").check { vector in
            RightContent(value: vector.content, comment: try vector.given("comment")).map { content in
                ["tag": "\(content.tag)", "secret": hexadecimal(content.secret ?? [])]
            }
        }
    }
}
