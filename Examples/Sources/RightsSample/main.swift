// Rights, after "Streamline local authorization flows": a login gated by a right, and a second factor whose public key a server knows.
//
//     RightsSample login                           logs in, and out again
//     RightsSample register|register-passcode KEY  makes the key of the second factor; writes its public half to the file KEY
//     RightsSample sign CHALLENGE SIGNATURE        signs the file CHALLENGE with it, into the file SIGNATURE
//     RightsSample make KEY                        the same by hand, without rights: a key of the enclave,
//     RightsSample sign-by-hand CHALLENGE SIGNATURE
//     RightsSample verify KEY CHALLENGE SIGNATURE  does what the server does
//     RightsSample remove                          removes the second factor
import Foundation
import LocalAuthentication
import Security

let words = Array(CommandLine.arguments.dropFirst())
let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256

func finish(_ text: String, _ code: Int32) -> Never {
    print(text)
    exit(code)
}

func read(_ index: Int) throws -> Data {
    guard words.count > index else { finish("A file is missing.", 64) }
    return try Data(contentsOf: URL(fileURLWithPath: words[index]))
}

func write(_ data: Data, _ index: Int) throws {
    guard words.count > index else { finish("A file is missing.", 64) }
    try data.write(to: URL(fileURLWithPath: words[index]))
}

/// The server's part, which has the public key and the challenge.
func isValid(_ signature: Data, of challenge: Data, by publicKey: Data) -> Bool {
    let attributes: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic]
    guard let key = SecKeyCreateWithData(publicKey as CFData, attributes as CFDictionary, nil) else { return false }
    return SecKeyVerifySignature(key, algorithm, challenge as CFData, signature as CFData, nil)
}

do {
    switch words.first {
    case "login":
        let account = Account()
        await account.login()
        print("The right is \(account.loginRight.state).")
        guard account.loginRight.state == .authorized else { exit(1) }
        await account.logout()
        finish("Logged out: the right is \(account.loginRight.state).", 0)
    case "register": try write(await SecondFactor().generateClientKeys(), 1)
    case "register-passcode": try write(await SecondFactor().generateClientKeysForPasscode(), 1)
    case "sign": try write(await SecondFactor().signChallenge(read(1), algorithm: algorithm), 2)
    case "make":
        guard let publicKey = KeyOfContext().make() else { finish("There is no key.", 1) }
        try write(publicKey, 1)
    case "sign-by-hand":
        let steps = KeyOfContext()
        let context = try await steps.authorize(steps.accessControl())
        let key = try steps.key(context)
        // No further prompts until the context is invalidated.
        for _ in 1...3 { try write(steps.sign(key, read(1) as CFData), 2) }
        context.invalidate()
    case "verify": finish(isValid(try read(3), of: try read(2), by: try read(1)) ? "It is the right answer." : "It is not.", 0)
    case "remove": try await LARightStore.shared.removeRight(forIdentifier: "2fa")
    default: finish("usage: RightsSample login|register|register-passcode|sign|make|sign-by-hand|verify|remove", 64)
    }
    print("Done.")
} catch let error as LAError {
    finish("Not authorized, \(error.code.rawValue): \(error.localizedDescription)", 1)
} catch {
    finish("Status code \((error as NSError).code): \(error.localizedDescription)", 1)
}
