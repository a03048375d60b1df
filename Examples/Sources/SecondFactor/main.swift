// This device as a second factor: a private key that cannot leave it, and that signs only after the user has seen what they approve and has
// authenticated.
//
//     SecondFactor enroll NAME      makes the key; prints its public half, for the relying party
//     SecondFactor approve         reads a challenge from standard input, prompts, and prints the response
//     SecondFactor forget NAME     deletes the key
import Approval
import Foundation
import LocalAuthentication
import Security

func finish(_ text: String, _ code: Int32) -> Never {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
    exit(code)
}

func finish(_ what: String, _ error: Unmanaged<CFError>?) -> Never {
    guard let error = error?.takeRetainedValue() else { finish(what, 1) }
    finish("\(what) Status code \(error.code): \(error.localizedDescription)", 1)
}

func words(for status: OSStatus) -> String { SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "no words for it" }

func identity(_ name: String) -> [String: Any] {
    [
        kSecClass as String: kSecClassKey,
        kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
        kSecAttrApplicationTag as String: Data("org.example.SecondFactor.\(name)".utf8),
    ]
}

/// Returns why this device can accept no fingerprint; nil if it can, even if nothing can show a prompt now.
func obstacleToFingers() -> String? {
    var obstacle: NSError?
    guard !LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &obstacle), let obstacle,
        [LAError.biometryNotAvailable, .biometryNotEnrolled].map(\.rawValue).contains(obstacle.code)
    else { return nil }
    return obstacle.localizedDescription
}

func makeKey(_ name: String, _ requirement: SecAccessControlCreateFlags) -> (key: SecKey?, error: Unmanaged<CFError>?) {
    var error: Unmanaged<CFError>?
    guard
        let accessControl = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, [.privateKeyUsage, requirement], &error)
    else { return (nil, error) }
    let parameters: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
        kSecAttrKeySizeInBits as String: 256,
        kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
        kSecPrivateKeyAttrs as String: [
            kSecAttrIsPermanent as String: true,
            kSecAttrApplicationTag as String: identity(name)[kSecAttrApplicationTag as String] as Any,
            kSecAttrLabel as String: "Second factor of \(name)",
            kSecAttrAccessControl as String: accessControl,
        ] as [String: Any],
    ]
    return (SecKeyCreateRandomKey(parameters as CFDictionary, &error), error)
}

/// Returns a key for the fingerprints that are enrolled now, so that a user who enrolls later cannot approve. If no fingerprint is
/// enrolled, such a key could never be used. If Vauban cannot distinguish sets of fingerprints, it creates no such key. In both cases the
/// key accepts the passcode too.
func madeKey(_ name: String) -> SecKey {
    var obstacle = obstacleToFingers()
    if obstacle == nil {
        let (key, error) = makeKey(name, .biometryCurrentSet)
        if let key { return key }
        guard let refusal = error?.takeUnretainedValue(), refusal.code == Int(errSecUnimplemented) else {
            finish("No key was made.", error)
        }
        obstacle = refusal.localizedDescription
        error?.release()
    }
    FileHandle.standardError.write(Data("The passcode will do in place of a finger: \(obstacle ?? "")\n".utf8))
    let (key, error) = makeKey(name, .userPresence)
    guard let key else { finish("No key was made.", error) }
    return key
}

func enroll(_ name: String) {
    guard SecItemCopyMatching(identity(name) as CFDictionary, nil) == errSecItemNotFound else {
        finish("There is a key of \(name) already, or the keychain cannot be asked. To begin anew: SecondFactor forget \(name)", 1)
    }
    var error: Unmanaged<CFError>?
    guard let publicKey = SecKeyCopyPublicKey(madeKey(name)), let bytes = SecKeyCopyExternalRepresentation(publicKey, &error) else {
        finish("The key has no public half.", error)
    }
    print((bytes as Data).base64EncodedString())
}

func approve() throws {
    guard let line = readLine(), let challenge = Challenge.read(Data(line.utf8)) else {
        finish("There is no challenge on standard input.", 64)
    }
    // The prompt shows this text, and the user's signature covers it.
    let context = LAContext()
    context.localizedReason = challenge.shown
    var found: AnyObject?
    let query = identity(challenge.user).merging([kSecReturnRef as String: true, kSecUseAuthenticationContext as String: context]) { $1 }
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    guard status == errSecSuccess, let key = found as? SecKey else {
        finish("There is no key of \(challenge.user) here. Status code \(status): \(words(for: status))", 1)
    }
    var error: Unmanaged<CFError>?
    guard let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, challenge.signedBytes as CFData, &error) else {
        finish("Not approved.", error)
    }
    print(try Response(nonce: challenge.nonce, signature: signature as Data).line)
}

func forget(_ name: String) {
    let status = SecItemDelete(identity(name) as CFDictionary)
    guard status == errSecSuccess else { finish("Nothing was forgotten. Status code \(status): \(words(for: status))", 1) }
    print("Forgotten.")
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch (arguments.first, arguments.count) {
case ("enroll", 2): enroll(arguments[1])
case ("approve", 1): try approve()
case ("forget", 2): forget(arguments[1])
default: finish("usage: SecondFactor enroll NAME | approve | forget NAME", 64)
}
