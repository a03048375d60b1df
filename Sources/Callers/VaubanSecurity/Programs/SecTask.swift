// The entitlements of this program, as the keychain sees them.

internal import VaubanAccessPolicy
internal import VaubanKeychainClient

/// The task of this program: Apple's `SecTask`.
public final class SecTask: NSObject, CFTypeNumbered, Sendable {
    package static let typeID: CFTypeID = 264

    fileprivate func entitlement(_ name: String, _ rights: ProgramRights) -> CFTypeRef? {
        switch name {
        case "keychain-access-groups": NSArray(array: rights.groups.map { NSString(string: $0) })
        case "application-identifier", "com.apple.application-identifier": rights.application.map { NSString(string: $0) }
        case "com.apple.developer.team-identifier": rights.application.flatMap(Self.team).map { NSString(string: $0.text) }
        default: nil
        }
    }

    /// Returns the identifier that a program was signed under, or that the system gave it.
    fileprivate static func identifier(_ application: String) -> String {
        team(application).map { String(decoding: application.utf8.dropFirst($0.prefix.utf8.count), as: UTF8.self) } ?? application
    }

    /// Returns the team of an application identifier of the form TEAM.identifier.
    private static func team(_ application: String) -> TeamIdentifier? {
        let team = TeamIdentifier(text: String(decoding: application.utf8.prefix(TeamIdentifier.length), as: UTF8.self))
        return team.flatMap { application.utf8.starts(with: $0.prefix.utf8) ? $0 : nil }
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
/// identifier from the system, which for a program of a trusted team is TEAM.identifier; `com.apple.developer.team-identifier` is that
/// team. Other entitlements are nil, as is the identifier in user mode, where programs have none.
public func SecTaskCopyValueForEntitlement(
    _ task: SecTask, _ entitlement: CFString, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFTypeRef? {
    withReportedError(error) { try task.rights() }.flatMap { task.entitlement(entitlement as String, $0) }
}

/// Returns several entitlements, without those that the program lacks: Apple's `SecTaskCopyValuesForEntitlements`.
public func SecTaskCopyValuesForEntitlements(
    _ task: SecTask, _ entitlements: CFArray, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFDictionary? {
    withReportedError(error) {
        let rights = try task.rights()
        let found = NSMutableDictionary()
        for name in entitlements.compactMap({ $0 as? String }) {
            if let value = task.entitlement(name, rights) { found[NSString(string: name)] = value }
        }
        return found
    }
}

/// Returns the identifier under which a trusted team signed the program, otherwise its identifier from the system: Apple's
/// `SecTaskCopySigningIdentifier`. Nil if it has none.
public func SecTaskCopySigningIdentifier(_ task: SecTask, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> CFString? {
    withReportedError(error) { try task.rights() }.flatMap { $0.application.map { NSString(string: SecTask.identifier($0)) } }
}
