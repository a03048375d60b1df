internal import VaubanAccessPolicy

/// The constraints of an access control in Apple's notation (Specs/secitem.md, 8.2, 8.3): each operation with its constraint. Used to
/// compare and describe controls. Apple also serializes it, for its own daemons only (`SecAccessControlCopyData` is not in the public
/// headers); here a control travels as the `AccessControl` of Specs/key-hierarchy.md instead.
indirect enum AccessControlList: Hashable {
    case yes
    case count(Int)
    case policy(String)
    /// The identifier of an enrollment, empty until the enclave binds the item to one.
    case unbound
    case entries([String: AccessControlList])

    init(_ control: AccessControl) {
        let flags = control.flags
        let constraints = Self.constraints.filter { flags.contains($0.flag) }
        let constraint: AccessControlList
        switch constraints.count {
        case 0: constraint = .yes
        case 1: constraint = .entries([constraints[0].key: constraints[0].value])
        default:
            var several = Dictionary(uniqueKeysWithValues: constraints.map { ($0.key, $0.value) })
            several["pkofn"] = .count(flags.contains(.or) ? 1 : constraints.count)
            constraint = .entries(several)
        }
        var entries: [String: AccessControlList]
        if flags.contains(.privateKeyUsage) {
            entries = ["osgn": constraint, "ock": constraint, "okd": constraint, "oa": .yes, "odel": .yes]
        } else {
            entries = constraints.isEmpty ? ["dacl": .yes] : ["od": constraint, "oe": .yes, "odel": .yes]
        }
        if control.needsApplicationPassword { entries["prp"] = .yes }
        self = .entries(entries)
    }

    private static let constraints: [(flag: AccessControlFlags, key: String, value: AccessControlList)] = [
        (.userPresence, "cpo", .policy("DeviceOwnerAuthentication")),
        (.biometryAny, "cbio", .entries(["pbioc": .unbound])),
        (.biometryCurrentSet, "cbio", .entries(["pbioc": .unbound, "pbioh": .unbound])),
        (.devicePasscode, "cup", .yes),
        (.companion, "cwtch", .yes),
    ]

    /// `;od(cup(true));odel(true);oe(true)`: operations in alphabetical order, while Apple's order is arbitrary.
    var description: String { text(before: ";") }

    private func text(before separator: String) -> String {
        switch self {
        case .yes: "true"
        case .count(let count): "\(count)"
        case .policy(let name): name
        case .unbound: ""
        case .entries(let entries):
            entries.sorted { $0.key < $1.key }.map { "\(separator)\($0.key)(\($0.value.text(before: "")))" }.joined()
        }
    }
}
