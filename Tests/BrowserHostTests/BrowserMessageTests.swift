import BrowserHost
import TestSupport
import Testing
import VaubanSecretBytes
import VaubanSecretText

/// What the extension sends.
@Suite struct BrowserMessageTests {
    @Test("Messages of the extension are decoded or refused as the vectors say") func messages() throws {
        try FormatVectors("browser-messages").check { vector in
            let request = try BrowserRequest(SecretBytes(copying: vector.content))
            return fields(of: request.action).merging(["id": String(request.number)]) { first, _ in first }
        }
    }

    private func fields(of action: BrowserRequest.Action) -> [String: String] {
        switch action {
        case .find(let origin): ["request": "find", "origin": text(origin)]
        case .password(let origin, let item): ["request": "password", "origin": text(origin), "item": item]
        case .code(let origin, let item): ["request": "code", "origin": text(origin), "item": item]
        case .generate(let origin, let rules):
            ["request": "generate", "origin": text(origin), "rules": rules.text].merging(
                [("minlength", rules.lengthMin), ("maxlength", rules.lengthMax)].compactMap { name, length in
                    length.map { (name, "\($0)") }
                }
            ) { first, _ in first }
        case .save(let origin, let account, let secret):
            ["request": "save", "origin": text(origin), "account": account, "password": digits(secret)]
        case .replace(let origin, let item, let secret, let mayLose):
            ["request": "replace", "origin": text(origin), "item": item, "password": digits(secret)].merging(
                mayLose ? ["mayLose": "true"] : [:]
            ) { first, _ in first }
        case .compare(let origin, let account, let secret):
            ["request": "compare", "origin": text(origin), "account": account, "password": digits(secret)]
        case .unlock: ["request": "unlock"]
        }
    }

    private func text(_ origin: WebOrigin) -> String { "https://\(origin.words)" }

    private func digits(_ secret: SecretBox) -> String { secret.secret.withUnsafeBytes { hexadecimal($0) } }
}
