// What this program may use, as the keychain sees it.

internal import VaubanKeychainClient

/// This program: Apple's `SecTask`.
public final class SecTask: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 264

    fileprivate func entitlement(_ name: String, _ rights: ProgramRights) -> CFTypeRef? {
        switch name {
        case "keychain-access-groups": NSArray(array: rights.groups.map { NSString(string: $0) })
        case "application-identifier", "com.apple.application-identifier": rights.application.map { NSString(string: $0) }
        default: nil
        }
    }

    fileprivate func rights() throws -> ProgramRights { try Keychain.client().ownRights() }
}

/// The class number: Apple's `SecTaskGetTypeID`.
public func SecTaskGetTypeID() -> CFTypeID { SecTask.typeID }

/// This program: Apple's `SecTaskCreateFromSelf`.
public func SecTaskCreateFromSelf(_ allocator: CFAllocator?) -> SecTask? { SecTask() }

/// What this program is entitled to, asked from the keychain's service: Apple's `SecTaskCopyValueForEntitlement`.
///
/// `keychain-access-groups` is an array with its groups, the first of which takes what is added without one; `application-identifier`
/// is the name that the
/// system gave it. Others are nil, and so is the name in user mode, where programs have none.
public func SecTaskCopyValueForEntitlement(
    _ task: SecTask, _ entitlement: CFString, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFTypeRef? {
    reporting(error) { try task.rights() }.flatMap { task.entitlement(entitlement as String, $0) }
}

/// Several at once, without those that it has not: Apple's `SecTaskCopyValuesForEntitlements`.
public func SecTaskCopyValuesForEntitlements(
    _ task: SecTask, _ entitlements: CFArray, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFDictionary? {
    reporting(error) {
        let rights = try task.rights()
        let found = NSMutableDictionary()
        for name in entitlements.compactMap({ $0 as? String }) {
            if let value = task.entitlement(name, rights) { found[NSString(string: name)] = value }
        }
        return found
    }
}

/// The name that the system gave this program: Apple's `SecTaskCopySigningIdentifier`. Nil where it has none.
public func SecTaskCopySigningIdentifier(_ task: SecTask, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFString? {
    reporting(error) { try task.rights() }.flatMap { $0.application.map { NSString(string: $0) } }
}
