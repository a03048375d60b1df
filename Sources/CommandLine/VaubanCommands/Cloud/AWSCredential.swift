import Foundation
import VaubanJSON
import VaubanKeychainModel
import VaubanRefusal
import VaubanSecretBytes
import VaubanSecretText

/// The credential that AWS programs expect from a `credential_process`
/// (https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html).
///
/// The item's account is the access key ID and its value the secret access key. Alternatively its value is JSON: the output of `aws sts`,
/// or the document that this type writes.
struct AWSCredential {
    private let accessKey: String
    private let secretKey: SecretBox
    private let sessionToken: SecretBox?
    /// The expiration in ISO 8601, as it was stored.
    private let expiration: String?

    private static let accessKeyCharacters = 16...128
    private static let sessionTokenBytesMax = 1 << 16

    init(_ record: ItemRecord, _ secret: consuming SecretBytes, now: Date = Date()) throws {
        guard secret.withUnsafeBytes({ $0.first { !" \t\r\n".utf8.contains($0) } }) == UInt8(ascii: "{") else {
            (accessKey, sessionToken, expiration) = (record.text(.account), nil, nil)
            secretKey = SecretBox(secret)
            try check(now)
            return
        }
        let parts = try secret.withUnsafeBytes { try Self.parts($0) }
        (accessKey, secretKey, sessionToken, expiration) = (parts.accessKey, parts.secretKey, parts.sessionToken, parts.expiration)
        try check(now)
    }

    /// Writes the credential to standard output.
    func write() throws {
        let answer = SecretJSON()
        answer.add("Version", 1)
        answer.add("AccessKeyId", accessKey)
        try answer.add("SecretAccessKey", secret: secretKey.secret)
        if let sessionToken { try answer.add("SessionToken", secret: sessionToken.secret) }
        if let expiration { answer.add("Expiration", expiration) }
        try answer.write()
    }

    private struct Parts {
        let accessKey: String
        let secretKey: SecretBox
        let sessionToken: SecretBox?
        let expiration: String?
    }

    private static func parts(_ bytes: UnsafeRawBufferPointer) throws(Refusal) -> Parts {
        guard let outer = JSONObject(document: bytes) else {
            throw Refusal(.badParameter, "The item's secret starts like JSON but is not valid JSON; store it again with vauban set")
        }
        let object = outer.object("Credentials") ?? outer
        func secret(_ key: String) -> SecretBox? {
            guard case .text(let range)? = object[key], let secret = JSONText.secret(bytes, range) else { return nil }
            return SecretBox(secret)
        }
        guard let accessKey = object.text("AccessKeyId"), let secretKey = secret("SecretAccessKey") else {
            throw Refusal(.badParameter, "The item's JSON lacks AccessKeyId or SecretAccessKey")
        }
        return Parts(
            accessKey: accessKey, secretKey: secretKey, sessionToken: secret("SessionToken"), expiration: object.text("Expiration"))
    }

    private func check(_ now: Date) throws(Refusal) {
        let isWord = accessKey.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x5F }
        guard Self.accessKeyCharacters.contains(accessKey.utf8.count), isWord else {
            throw Refusal(
                .badParameter,
                """
                "\(SafeText.line(accessKey, max: 40))" is not an access key ID; store it as the account of the item (aws/AKIA…), or as \
                AccessKeyId in a secret in JSON
                """)
        }
        guard !secretKey.secret.isEmpty else { throw Refusal(.badParameter, "The secret access key is empty") }
        if let sessionToken, sessionToken.secret.count > Self.sessionTokenBytesMax {
            throw Refusal(.dataTooLarge, "The session token is longer than \(Self.sessionTokenBytesMax) bytes")
        }
        guard let expiration else { return }
        guard let end = Self.date(expiration) else {
            throw Refusal(.badParameter, "The Expiration in the item's secret is not a date such as 2026-01-01T00:00:00Z")
        }
        guard end > now else {
            throw Refusal(
                .badParameter, "This credential expired at \(SafeText.line(expiration, max: 40)); store a new one with vauban set")
        }
    }

    private static func date(_ text: String) -> Date? {
        let plain = ISO8601DateFormatter()
        let withFractions = ISO8601DateFormatter()
        withFractions.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return plain.date(from: text) ?? withFractions.date(from: text)
    }
}
