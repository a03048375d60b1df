/// Creates an error: Apple's `CFErrorCreate`.
public func CFErrorCreate(
    _ allocator: CFAllocator!,
    _ domain: CFErrorDomain!,
    _ code: CFIndex,
    _ userInfo: CFDictionary!
) -> CFError! {
    guard let domain else { return nil }
    return NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

/// Returns the domain of the error's code: Apple's `CFErrorGetDomain`.
public func CFErrorGetDomain(_ err: CFError!) -> CFErrorDomain! {
    err.map { $0.domain as NSString }
}

/// Returns the error's code within its domain: Apple's `CFErrorGetCode`.
public func CFErrorGetCode(_ err: CFError!) -> CFIndex {
    err?.code ?? 0
}

/// Returns the error's user info dictionary: Apple's `CFErrorCopyUserInfo`.
public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary! {
    err.map { $0.userInfo as NSDictionary }
}
