// The entitlements of this program, as the keychain sees them.

internal import VaubanKeychainClient

/// The task of this program: Apple's `SecTask`.
public final class SecTask: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 264

    fileprivate func entitlement(_ name: String, _ rights: ProgramRights) -> CFTypeRef? {
        switch name {
        case "keychain-access-groups": NSArray(array: rights.groups.map { NSString(string: $0) })
        case "application-identifier", "com.apple.application-identifier": rights.application.map { NSString(string: $0) }
        default: nil
        }
    }

    fileprivate func rights() throws -> ProgramRights { try KeychainConnections.client().ownRights() }
}

/// Returns the type identifier of `SecTask`: Apple's `SecTaskGetTypeID`.
public func SecTaskGetTypeID() -> CFTypeID { SecTask.typeID }

/// Returns this program's task: Apple's `SecTaskCreateFromSelf`.
public func SecTaskCreateFromSelf(_ allocator: CFAllocator?) -> SecTask? { SecTask() }

/// Returns an entitlement of this program from keychaind: Apple's `SecTaskCopyValueForEntitlement`.
///
/// `keychain-access-groups` is an array of access groups, the first of which is the default for new items; `application-identifier` is the
/// identifier from the system. Other entitlements are nil, as is the identifier in user mode, where programs have none.
public func SecTaskCopyValueForEntitlement(
    _ task: SecTask, _ entitlement: CFString, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFTypeRef? {
    reporting(error) { try task.rights() }.flatMap { task.entitlement(entitlement as String, $0) }
}

/// Returns several entitlements, without those that the program lacks: Apple's `SecTaskCopyValuesForEntitlements`.
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

/// Returns the program's identifier from the system: Apple's `SecTaskCopySigningIdentifier`. Nil if it has none.
public func SecTaskCopySigningIdentifier(_ task: SecTask, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFString? {
    reporting(error) { try task.rights() }.flatMap { $0.application.map { NSString(string: $0) } }
}
