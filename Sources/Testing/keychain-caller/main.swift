// A small program that stores secrets through Apple's API, for tests of access. It prints the status of its one call, followed by the
// result: `keychain-caller VERB ACCOUNT [VALUE|-] [GROUP] [TRUSTED...]`.

import Foundation
import Glibc
import LocalAuthentication
import Security

let words = Array(CommandLine.arguments.dropFirst())
if words.first == "key" {
    guard let caller = KeyCaller(Array(words.dropFirst())) else {
        print("usage: \(KeyCaller.usage)")
        exit(64)
    }
    caller.run()
}
if words.first == "web" {
    guard let caller = WebCaller(Array(words.dropFirst())) else {
        print("usage: \(WebCaller.usage)")
        exit(64)
    }
    caller.run()
}
if words.first == "signature" {
    guard let caller = SignatureCaller(Array(words.dropFirst())) else {
        print("usage: \(SignatureCaller.usage)")
        exit(64)
    }
    caller.run()
}
if words == ["task"] { SignatureCaller.runTask() }
if words == ["timed"] { TimedCaller.run() }
guard words.count >= 2 else {
    print(
        """
        usage: keychain-caller \
        add|rich|code|sealed|fingers|guard|evaluate|leave|ask|forked|environment|save-right|right|rights|get|show|fail|list|update|delete
        """
            + " ACCOUNT [VALUE|-] [GROUP] [TRUSTED...]; with the prefix synced- a verb is about synchronizable items")
    exit(64)
}
let value = words.count > 2 && words[2] != "-" ? words[2] : ""
var item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "callers"]
if !words[1].isEmpty { item[kSecAttrAccount] = words[1] }
if words.count > 3, !words[3].isEmpty { item[kSecAttrAccessGroup] = words[3] }
let isSynchronizable = words[0].hasPrefix("synced-")
if isSynchronizable { item[kSecAttrSynchronizable] = true }
var found: CFTypeRef?
let status: OSStatus
switch isSynchronizable ? String(words[0].dropFirst(7)) : words[0] {
case "add":
    item[kSecValueData] = Data(value.utf8)
    if words.count > 4 { item[kSecAttrAccess] = access(for: Array(words.dropFirst(4))) }
    status = SecItemAdd(item as CFDictionary, nil)
// Adds an item with every attribute.
case "rich":
    item[kSecValueData] = Data(value.utf8)
    item.merge(rich) { $1 }
    status = SecItemAdd(item as CFDictionary, nil)
// Adds a key of one-time codes, under the name that Vauban gives them.
case "code":
    item[kSecAttrService] = "otpauth:callers"
    item[kSecValueData] = Data(value.utf8)
    status = SecItemAdd(item as CFDictionary, nil)
// Adds an item with an application password, which is the item's name.
case "sealed":
    item[kSecValueData] = Data(value.utf8)
    let context = LAContext()
    _ = context.setCredential(Data(words[1].utf8), type: .applicationPassword)
    item[kSecUseAuthenticationContext] = context
    item[kSecAttrAccessControl] = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .applicationPassword, nil)
    status = SecItemAdd(item as CFDictionary, nil)
// Adds an item for a fingerprint of the current enrollment.
case "fingers":
    item[kSecValueData] = Data(value.utf8)
    item[kSecAttrAccessControl] = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryCurrentSet, nil)
    status = SecItemAdd(item as CFDictionary, nil)
case "show":
    item[kSecAttrSynchronizable] = kSecAttrSynchronizableAny
    item[kSecReturnAttributes] = true
    status = SecItemCopyMatching(item as CFDictionary, &found)
case "get", "fail":
    item[kSecReturnData] = true
    if words[0] == "fail" { item[kSecUseAuthenticationUI] = kSecUseAuthenticationUIFail }
    status = SecItemCopyMatching(item as CFDictionary, &found)
case "list":
    item[kSecReturnAttributes] = true
    item[kSecMatchLimit] = kSecMatchLimitAll
    status = SecItemCopyMatching(item as CFDictionary, &found)
case "update": status = SecItemUpdate(item as CFDictionary, [kSecValueData: Data(value.utf8)] as CFDictionary)
// Adds an item that prompts when it is read.
case "guard":
    item[kSecValueData] = Data(value.utf8)
    item[kSecAttrAccessControl] = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
    status = SecItemAdd(item as CFDictionary, nil)
case "evaluate":
    let (context, answered) = (LAContext(), DispatchSemaphore(value: 0))
    context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "evaluate") { _, error in
        print((error as? LAError)?.errorCode ?? 0)
        answered.signal()
    }
    answered.wait()
    exit(0)
// Exits during a prompt when it receives a signal.
case "leave":
    signal(SIGTERM, SIG_IGN)
    let (context, leaving) = (LAContext(), DispatchSource.makeSignalSource(signal: SIGTERM))
    leaving.setEventHandler { exit(3) }
    leaving.resume()
    context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "leave") { _, _ in }
    withExtendedLifetime((context, leaving)) { dispatchMain() }
// Prompts with a given reason and a title for the cancel button.
case "ask":
    let (context, answered) = (LAContext(), DispatchSemaphore(value: 0))
    if words.count > 2 { context.localizedCancelTitle = words[2] }
    context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: words[1]) { _, error in
        print((error as? LAError)?.errorCode ?? 0)
        answered.signal()
    }
    answered.wait()
    exit(0)
// Prompts the user, and uses the authorization in a child and in this process.
case "forked":
    item[kSecAttrService] = words[2]
    let context = LAContext()
    let asked = DispatchSemaphore(value: 0)
    context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "fork") { _, _ in asked.signal() }
    asked.wait()
    item[kSecUseAuthenticationContext] = context
    item[kSecUseAuthenticationUI] = kSecUseAuthenticationUIFail
    let child = fork()
    let found = SecItemCopyMatching(item as CFDictionary, nil)
    if child == 0 {
        print("child \(found)")
        fflush(nil)
        _exit(0)
    }
    waitpid(child, nil, 0)
    print("parent \(SecItemCopyMatching(item as CFDictionary, nil))")
    exit(0)
case "environment": watchInParentAndChild()
case "right":
    print(signByRight(words[1]))
    exit(0)
case "save-right":
    print(saveRightForTheseFingers(words[1]))
    exit(0)
case "rights": saveRightsForever(words[1])
case "delete": status = SecItemDelete(item as CFDictionary)
default: exit(64)
}
switch found {
case let data as Data: print("\(status) \(String(decoding: data, as: UTF8.self))")
case let list as [[String: Any]]:
    let names = list.map { "\($0[kSecAttrAccount as String] as? String ?? "")@\($0[kSecAttrAccessGroup as String] as? String ?? "")" }
    print("\(status) \(names.sorted().joined(separator: " "))")
case let attributes as [String: Any]:
    let shown = attributes.filter { !["cdat", "mdat", "agrp", "accc", "sha1"].contains($0.key) }.map { "\($0.key)=\(text(of: $0.value))" }
    print("\(status) \(shown.sorted().joined(separator: " "))")
default: print(status)
}

/// Calls fork, which Swift hides because a child must not continue other threads' work; here there are no other threads.
func fork() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { exit(70) }
    return unsafeBitCast(symbol, to: Fork.self)()
}

var rich: [CFString: Any] {
    [
        kSecAttrSynchronizable: true, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock, kSecAttrLabel: "a label",
        kSecAttrDescription: "a description", kSecAttrComment: "a comment", kSecAttrGeneric: Data([0, 1, 255]),
        kSecAttrCreator: 7, kSecAttrType: 8, kSecAttrIsInvisible: true, kSecAttrIsNegative: false,
    ]
}

/// Returns data as bytes, so that their order is compared too.
func text(of value: Any) -> String { (value as? Data).map { "\(Array($0))" } ?? "\(value)" }

/// Returns an instance of Apple's oldest access model, with the applications that may read the item.
func access(for paths: [String]) -> SecAccess? {
    let applications = paths.map { path -> SecTrustedApplication? in
        var application: SecTrustedApplication?
        _ = path.withCString { SecTrustedApplicationCreateFromPath($0, &application) }
        return application
    }
    var access: SecAccess?
    _ = SecAccessCreate("callers" as CFString, applications.compactMap { $0 } as CFArray, &access)
    return access
}
