package import VaubanAccessPolicy
internal import VaubanRefusal

/// When an item is accessible and what the user must do first: Apple's `SecAccessControl`. Controls are equal if they have the same class
/// and constraints, so one that was read back equals the one that was created; flags without an effect (`and`, or `or` beside a single
/// constraint) do not matter, as on Apple's systems.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecAccessControl: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 256
    let protection: ProtectionClass
    /// The class and the flags; nil for the control that a search returns for a plain item, which has a class and no constraints.
    package let control: AccessControl?

    init(_ control: AccessControl) {
        self.protection = control.protection
        self.control = control
    }

    init(bare protection: ProtectionClass) {
        self.protection = protection
        self.control = nil
    }

    /// The access control of a private key: without constraints, only its class.
    package var ofKey: AccessControl {
        get throws { try control ?? AccessControl(protection: protection, flags: []) }
    }

    private var list: AccessControlList? { control.map(AccessControlList.init) }

    /// Returns whether the other object has the same class and constraints.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccessControl else { return false }
        return protection == other.protection && list == other.list
    }

    /// A hash of the class and the constraints.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(protection)
        hasher.combine(list)
        return hasher.finalize()
    }

    /// A description in Apple's form: `<SecAccessControlRef: cku;od(cpo(DeviceOwnerAuthentication));odel(true);oe(true)>`.
    public override var description: String { "<SecAccessControlRef: \(protection.rawValue)\(list?.description ?? "")>" }
}

/// Returns the type identifier of `SecAccessControl`: Apple's `SecAccessControlGetTypeID`.
public func SecAccessControlGetTypeID() -> CFTypeID { SecAccessControl.typeID }

/// Creates an access control from an accessibility (`kSecAttrAccessible…`) and flags: Apple's `SecAccessControlCreateWithFlags` (C-073).
///
/// - Returns: The access control. Nil with an error of `NSOSStatusErrorDomain`: `errSecParam` for an unknown accessibility or contradictory
///   flags, which are `or` with `and`, both kinds of biometry, and presence with anything but `privateKeyUsage` and `applicationPassword`.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    do {
        guard let code = protection as? String, let known = ProtectionClass(rawValue: code) else {
            throw Refusal(.badParameter, "The accessibility is not one of kSecAttrAccessible…")
        }
        return SecAccessControl(try AccessControl(protection: known, flags: AccessControlFlags(rawValue: UInt64(flags.rawValue))))
    } catch let failure {
        let why = (failure as? AccessControlError)?.rawValue ?? (failure as? Refusal)?.detail ?? "\(failure)"
        let report = NSError(domain: NSOSStatusErrorDomain, code: Int(errSecParam), userInfo: [NSLocalizedDescriptionKey: why])
        error?.pointee = Unmanaged.passRetained(report)
        return nil
    }
}
