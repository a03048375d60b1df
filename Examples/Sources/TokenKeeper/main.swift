// Stores the token of a service with VaubanKeychain. The same program builds on Apple's systems.
//
//     TokenKeeper keep       the token is one line on standard input; an existing one keeps its protection
//     TokenKeeper guard      the same, and reading it prompts from now on
//     TokenKeeper show       prints it
//     TokenKeeper exists     prints whether it exists
//     TokenKeeper list       lists what exists, without secrets
//     TokenKeeper forget
import Foundation
import VaubanKeychain

/// The application's own wrapper. Its tests pass an `InMemorySecretStore`.
struct TokenKeeper<Store: SecretStore> {
    let store: Store
    let name = GenericPassword(service: "org.example.TokenKeeper", account: "anna")

    func use<Answer>(for reason: String, _ body: (UnsafeRawBufferPointer) -> Answer) async throws -> Answer? {
        guard let token = try await store.secret(for: name, authentication: .because(reason)) else { return nil }
        return token.withUnsafeBytes(body)
    }

    func forget() async throws -> Bool { try await store.remove(name) }
}

func tokenFromInput() -> Secret {
    guard let line = readLine() else {
        print("There is no token on standard input.")
        exit(64)
    }
    return Secret(utf8: line)
}

func noToken() -> Never {
    print("There is no token.")
    exit(1)
}

let keychain = Keychain()
let keeper = TokenKeeper(store: keychain)
let described = ItemAttributes(label: "Token of anna")

do {
    switch CommandLine.arguments.dropFirst().first {
    case "keep":
        try await keychain.set(tokenFromInput(), for: keeper.name, attributes: described)
        print("Kept.")
    case "guard":
        try await keychain.set(tokenFromInput(), for: keeper.name, attributes: described, protection: .presence)
        print("Kept.")
    case "show":
        // This program prints the secret; other programs would pass the bytes to the code that needs them.
        guard let text = try await keeper.use(for: "show the token of anna", { String(decoding: $0, as: UTF8.self) }) else { noToken() }
        print(text)
    case "exists":
        guard try await keychain.contains(keeper.name) else { noToken() }
        print("There is one.")
    case "list":
        for item in try await keychain.items(matching: GenericPassword.Query(service: keeper.name.service), authentication: .skipping) {
            print("\(item.name.account)  “\(item.attributes.label ?? "")”")
        }
    case "forget":
        guard try await keeper.forget() else { noToken() }
        print("Forgotten.")
    default:
        print("usage: TokenKeeper keep|guard|show|exists|list|forget")
        exit(64)
    }
} catch let error as KeychainError where error.reason == .cancelled {
    print("You said no.")
    exit(2)
} catch {
    print("Not done: \(error)")
    exit(1)
}
