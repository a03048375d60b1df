// The occasions on which an application authenticates its user. Each is one evaluation with its own reason. For secrets the keychain
// prompts, which a modified program cannot bypass.
//
//     OccasionsSample owner        checks that the owner holds the device
//     OccasionsSample parents      parental control: more time for a child
//     OccasionsSample enable       switches a feature on
//     OccasionsSample sign-in      the first factor, instead of typing a password
//     OccasionsSample second       the second factor, after a password that is one line on standard input
//     OccasionsSample view         shows sensitive data
//     OccasionsSample confirm WHAT confirms an operation, which the reason names
//     OccasionsSample start        at start-up; a fingerprint that unlocked the device a moment ago suffices
import Foundation
import LocalAuthentication
import Security

func finish(_ text: String, _ code: Int32) -> Never {
    print(text)
    exit(code)
}

/// Returns once the user has authenticated; otherwise ends the program with no effect.
func ask(_ reason: String, _ context: LAContext = LAContext()) async {
    do {
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason)
    } catch {
        finish("Nothing is done: \(error.localizedDescription)", 1)
    }
}

func item(_ account: String) -> [String: Any] {
    [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "org.example.Occasions", kSecAttrAccount as String: account]
}

/// Adds a value for the next step, and keeps an existing one.
func keep(_ account: String, _ value: String, needsApproval: Bool) {
    var added = item(account)
    added[kSecValueData as String] = Data(value.utf8)
    if needsApproval {
        added[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .userPresence, nil)
    }
    let status = SecItemAdd(added as CFDictionary, nil)
    guard status == errSecSuccess || status == errSecDuplicateItem else { finish("Not kept. Status code \(status)", 1) }
}

func value(_ account: String, _ context: LAContext? = nil) -> String {
    var query = item(account)
    query[kSecReturnData as String] = true
    query[kSecUseAuthenticationContext as String] = context
    var found: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    guard status == errSecSuccess, let data = found as? Data else { finish("Nothing is shown. Status code \(status)", 1) }
    return String(decoding: data, as: UTF8.self)
}

let words = CommandLine.arguments.dropFirst()
switch words.first {
case "owner":
    await ask("see that it is you")
    finish("Good day.", 0)
case "parents":
    await ask("give your child another hour")
    finish("Another hour it is.", 0)
case "enable":
    await ask("switch on payments by touch")
    keep("payments", "on", needsApproval: false)
    finish("Payments are \(value("payments")).", 0)
case "sign-in":
    keep("token", "tökén", needsApproval: false)
    await ask("sign in to your account")
    finish("Signed in with \(value("token")).", 0)
case "second":
    // In practice a server would verify it. After a wrong password the second factor is never requested.
    guard readLine() == "pässword" else { finish("That is not the password.", 1) }
    await ask("finish signing in")
    finish("Signed in, twice over.", 0)
case "view":
    keep("diary", "dear dïary", needsApproval: true)
    let context = LAContext()
    context.localizedReason = "show your diary"
    finish(value("diary", context), 0)
case "confirm":
    let what = words.dropFirst().joined(separator: " ")
    await ask("pay \(what)")
    finish("Paid \(what).", 0)
case "start":
    let context = LAContext()
    context.touchIDAuthenticationAllowableReuseDuration = 30
    await ask("open the app", context)
    finish("Open.", 0)
default: finish("usage: OccasionsSample owner|parents|enable|sign-in|second|view|confirm WHAT|start", 64)
}
