// A small program that keeps secrets by Apple's API, for tests of who sees what. It prints the status of its one call, and
// behind it what was found: `keychain-caller VERB ACCOUNT [VALUE|-] [GROUP] [TRUSTED...]`.

import Foundation
import Security

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2 else {
    print("usage: keychain-caller add|get|fail|list|update|delete ACCOUNT [VALUE|-] [GROUP] [TRUSTED...]")
    exit(64)
}
let value = words.count > 2 && words[2] != "-" ? words[2] : ""
var item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "callers"]
if !words[1].isEmpty { item[kSecAttrAccount] = words[1] }
if words.count > 3, !words[3].isEmpty { item[kSecAttrAccessGroup] = words[3] }
var found: CFTypeRef?
let status: OSStatus
switch words[0] {
case "add":
    item[kSecValueData] = Data(value.utf8)
    if words.count > 4 { item[kSecAttrAccess] = access(for: Array(words.dropFirst(4))) }
    status = SecItemAdd(item as CFDictionary, nil)
case "get", "fail":
    item[kSecReturnData] = true
    if words[0] == "fail" { item[kSecUseAuthenticationUI] = kSecUseAuthenticationUIFail }
    status = SecItemCopyMatching(item as CFDictionary, &found)
case "list":
    item[kSecReturnAttributes] = true
    item[kSecMatchLimit] = kSecMatchLimitAll
    status = SecItemCopyMatching(item as CFDictionary, &found)
case "update": status = SecItemUpdate(item as CFDictionary, [kSecValueData: Data(value.utf8)] as CFDictionary)
case "delete": status = SecItemDelete(item as CFDictionary)
default: exit(64)
}
switch found {
case let data as Data: print("\(status) \(String(decoding: data, as: UTF8.self))")
case let list as [[String: Any]]:
    let names = list.map { "\($0[kSecAttrAccount as String] as? String ?? "")@\($0[kSecAttrAccessGroup as String] as? String ?? "")" }
    print("\(status) \(names.sorted().joined(separator: " "))")
default: print(status)
}

/// The oldest of Apple's access models: an item that names the applications that may read it.
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
