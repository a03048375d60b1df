// Stores a value that opens only with a password from outside this device, after WWDC 2015, session 706. With a server's reply as the
// password, the server controls data on this device; with a key file on an accessory, the data opens only while the accessory is plugged
// in.
//
//     ApplicationPasswordSample save server COMMAND [ARGUMENT…]     the value is one line on standard input
//     ApplicationPasswordSample save accessory FILE
//     ApplicationPasswordSample load server COMMAND [ARGUMENT…]     prints it
//     ApplicationPasswordSample load accessory FILE
//
// COMMAND queries the server, as `curl` or `ssh` do, and prints the answer.
import Foundation
import LocalAuthentication
import Security

func finish(_ text: String, _ code: Int32) -> Never {
    print(text)
    exit(code)
}

func words(for status: OSStatus) -> String { SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "no words for it" }

/// Returns the password, which is used for one call and not stored.
func password(from source: [String]) -> Data? {
    switch (source.first, source.count) {
    case ("server", 2...):
        let asking = Process()
        let answer = Pipe()
        asking.executableURL = URL(fileURLWithPath: source[1])
        asking.arguments = Array(source[2...])
        asking.standardOutput = answer
        guard (try? asking.run()) != nil else { return nil }
        let bytes = answer.fileHandleForReading.readDataToEndOfFile()
        asking.waitUntilExit()
        return asking.terminationStatus == 0 ? bytes : nil
    case ("accessory", 2): return FileManager.default.contents(atPath: source[1])
    default: return nil
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard let verb = arguments.first, ["save", "load"].contains(verb), arguments.count > 2 else {
    finish("usage: ApplicationPasswordSample save|load server COMMAND… | accessory FILE", 64)
}
let context = LAContext()
guard let password = password(from: Array(arguments[1...])), context.setCredential(password, type: .applicationPassword) else {
    finish("There is no password to be had.", 1)
}
let identity: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: "org.example.ApplicationPassword",
    kSecAttrAccount as String: arguments[1],
    kSecUseAuthenticationContext as String: context,
]

if verb == "save" {
    guard let value = readLine() else { finish("There is no value on standard input.", 64) }
    var error: Unmanaged<CFError>?
    guard
        let accessControl = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .applicationPassword, &error)
    else { finish("There is no such access control.", 1) }
    let item = identity.merging([kSecValueData as String: Data(value.utf8), kSecAttrAccessControl as String: accessControl]) { $1 }
    let status = SecItemAdd(item as CFDictionary, nil)
    guard status == errSecSuccess else { finish("Not saved. Status code \(status): \(words(for: status))", 1) }
    finish("Saved.", 0)
}
var found: AnyObject?
let status = SecItemCopyMatching(identity.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &found)
guard status == errSecSuccess, let value = found as? Data else { finish("Not opened. Status code \(status): \(words(for: status))", 1) }
finish(String(decoding: value, as: UTF8.self), 0)
