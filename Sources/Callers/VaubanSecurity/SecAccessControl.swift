package import VaubanAccessPolicy
internal import VaubanRefusal

/// When an item can be decrypted and what must happen before: Apple's `SecAccessControl`. Two are equal when they ask for
/// the same in the same class, so that one that was read back compares with one that was made; flags that change nothing
/// (`and`, or `or` beside a single constraint) make no difference, as on Apple's systems.
///
/// `@unchecked Sendable`: every stored property is immutable.
public final class SecAccessControl: NSObject, CFTypeNumbered, @unchecked Sendable {
    package static let typeID: CFTypeID = 256
    let protection: Protection
    /// Nil for the control that reading attributes makes up for a plain item: it carries the class and no list.
    package let control: AccessControl?

    init(_ control: AccessControl) {
        self.protection = control.protection
        self.control = control
    }

    init(bare protection: Protection) {
        self.protection = protection
        self.control = nil
    }

    /// What it asks for as the control of a private key: without a list, nothing but its class.
    package var ofKey: AccessControl {
        get throws { try control ?? AccessControl(protection: protection, flags: []) }
    }

    private var list: AccessControlList? { control.map(AccessControlList.init) }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccessControl else { return false }
        return protection == other.protection && list == other.list
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(protection)
        hasher.combine(list)
        return hasher.finalize()
    }

    /// As Apple's: `<SecAccessControlRef: cku;od(cpo(DeviceOwnerAuthentication));odel(true);oe(true)>`.
    public override var description: String { "<SecAccessControlRef: \(protection.rawValue)\(list?.description ?? "")>" }
}

/// The class number of `SecAccessControl`: Apple's `SecAccessControlGetTypeID`.
public func SecAccessControlGetTypeID() -> CFTypeID { SecAccessControl.typeID }

/// Makes an access control from an accessibility class (`kSecAttrAccessible…`) and flags: Apple's
/// `SecAccessControlCreateWithFlags` (C-073). Nil and errSecParam when the class is none of the seven or the flags
/// contradict each other.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    do {
        guard let code = protection as? String, let known = Protection(rawValue: code) else {
            throw Refusal(.badParameter, "the accessibility is none of kSecAttrAccessible…")
        }
        return SecAccessControl(try AccessControl(protection: known, flags: AccessControlFlags(rawValue: UInt64(flags.rawValue))))
    } catch let failure {
        let why = (failure as? AccessControl.Fault)?.rawValue ?? (failure as? Refusal)?.detail ?? "\(failure)"
        let report = NSError(domain: NSOSStatusErrorDomain, code: Int(errSecParam), userInfo: [NSLocalizedDescriptionKey: why])
        error?.pointee = Unmanaged.passRetained(report)
        return nil
    }
}
