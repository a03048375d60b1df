// The four functions in short. These files use Apple's public names alone, so that they would compile on Apple's systems.

import Foundation
import Security

/// The items of one test, separated from all others by their own service.
struct Calls {
    let service = "conformance-\(UUID().uuidString)"

    func item(_ account: String? = nil, _ more: [CFString: Any] = [:]) -> [CFString: Any] {
        var item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
        if let account { item[kSecAttrAccount] = account }
        return item.merging(more) { $1 }
    }

    @discardableResult
    func add(_ account: String, _ value: String? = "value", with more: [CFString: Any] = [:]) -> OSStatus {
        var item = item(account, more)
        if let value { item[kSecValueData] = Data(value.utf8) }
        return SecItemAdd(item as CFDictionary, nil)
    }

    func find(_ query: [CFString: Any]) -> (status: OSStatus, result: AnyObject?) {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, result)
    }

    func value(_ account: String) -> String? {
        (find(item(account, [kSecReturnData: true])).result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    func update(_ query: [CFString: Any], _ changes: [CFString: Any]) -> OSStatus {
        SecItemUpdate(query as CFDictionary, changes as CFDictionary)
    }
    func delete(_ query: [CFString: Any]) -> OSStatus { SecItemDelete(query as CFDictionary) }
}
