import Crypto
import Keychain
import TestSupport
import Testing
import VaubanSecretBytes

/// The vectors of root's grants and of the halves of a row.
@Suite struct FormatVectorTests {
    @Test("Files of entitlements grant or are refused as the vectors say") func entitlements() throws {
        try FormatVectors("entitlements").check { vector in
            let application = try vector.given("application")
            guard let (applications, grants) = EntitlementTable.grants(in: vector.content) else { return nil }
            guard applications.contains(application) else { return ["applies": "no"] }
            return [
                "applies": "yes", "groups": grants.groups(adding: application).joined(separator: " "),
                "denies": grants.deniesKeychain ? "yes" : "no",
            ]
        }
    }

    @Test("Halves of a row open or are refused as the vectors say") func halves() throws {
        try FormatVectors("halves").check { vector in
            let key = try vector.givenBytes("key"), binding = try vector.givenBytes("binding")
            guard try vector.given("half") == "secret" else {
                let metadata = try RowCipher.openMetadata(vector.content, key: SymmetricKey(data: key), binding: binding)
                return ["plaintext": FormatVectors.hexadecimal(metadata)]
            }
            let value = try RowCipher.open(vector.content, key: SecretBytes(copying: key), binding: binding)
            let bytes = value.value().withUnsafeBytes { FormatVectors.hexadecimal($0) }
            return ["hasValue": value.hasValue ? "yes" : "no", "value": bytes]
        }
    }
}
