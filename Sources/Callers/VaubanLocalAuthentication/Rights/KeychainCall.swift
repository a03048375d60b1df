// The calls of Security with thrown errors.

internal import Foundation
internal import VaubanSecurity

enum KeychainCall {
    static func fault(_ status: OSStatus) -> NSError {
        let words = (SecCopyErrorMessageString(status, nil) as String?) ?? "status \(status)"
        return NSError(domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: words])
    }

    private static func check(_ status: OSStatus) throws { if status != errSecSuccess { throw fault(status) } }

    static func add(_ item: [CFString: Any]) throws { try check(SecItemAdd(item as CFDictionary, nil)) }
    static func delete(_ query: [CFString: Any]) throws { try check(SecItemDelete(query as CFDictionary)) }

    static func find(_ query: [CFString: Any]) throws -> AnyObject {
        var found: CFTypeRef?
        try check(SecItemCopyMatching(query as CFDictionary, &found))
        guard let found else { throw fault(errSecDecode) }
        return found
    }

    static func isThere(_ query: [CFString: Any]) throws -> Bool {
        let status = SecItemCopyMatching(query as CFDictionary, nil)
        if status != errSecItemNotFound { try check(status) }
        return status == errSecSuccess
    }

    /// Returns an empty list if there are no matches.
    static func list(_ query: [CFString: Any]) throws -> [NSDictionary] {
        var found: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return [] }
        try check(status)
        return (found as? [AnyObject])?.compactMap { $0 as? NSDictionary } ?? []
    }

    /// Runs a call that returns an object or an error.
    static func object<Object: AnyObject>(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Object?) throws -> Object {
        var error: Unmanaged<CFError>?
        guard let object = body(&error) else { throw error?.takeRetainedValue() ?? fault(errSecInternal) }
        return object
    }

    static func data(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> CFData?) throws -> Data { try object(body) as Data }
}
