/// The reply to a `CarrierRequest`, and the first message of the program.
///
/// kind (1) ‖ content
package enum CarrierReply: Hashable, Sendable {
    /// The program is ready. The text describes the carrier.
    case ready(String)
    case done
    /// Each name is its length (1) and that many bytes.
    case names([String])
    case file([UInt8])
    /// There is no such file.
    case absent
    /// There is a file of that name with other content.
    case taken
    /// fault (1) ‖ text
    case refused(Fault, String)
    /// Files were added or replaced in these sections; without one, anything may have changed. Each is its length (1) and that many bytes.
    case changed([String])
    /// The file whose absence the request requires exists; nothing was done.
    case present
    /// cluster (8) ‖ revision (8), at least 1
    case revision(cluster: UInt64, revision: Int64)

    package enum Fault: UInt8, CaseIterable, Sendable {
        /// No node answers, or none can serve now.
        case unreachable = 1
        /// The user's account files cannot be used, or do not fit the carrier's certificates.
        case account = 2
        /// The carrier refuses this user, or the certificate of the account.
        case denied = 3
        case full = 4
        /// The stored value is not a file, or is incomplete.
        case damaged = 5
    }

    package static let textBytesMax = 1000
    /// The most sections in one reply.
    package static let sectionsMax = 200

    package init?(bytes: [UInt8]) {
        guard let kind = bytes.first else { return nil }
        var rest = bytes.dropFirst()
        switch kind {
        case 0:
            guard let text = Self.text(rest) else { return nil }
            self = .ready(text)
        case 1 where rest.isEmpty: self = .done
        case 2:
            var names: [String] = []
            while !rest.isEmpty {
                guard let name = CarrierRequest.text(&rest), CarrierGrammar.isName(name) else { return nil }
                names.append(name)
            }
            self = .names(names)
        case 3 where rest.count <= CarrierGrammar.fileBytesMax: self = .file(Array(rest))
        case 4 where rest.isEmpty: self = .absent
        case 5 where rest.isEmpty: self = .taken
        case 6:
            guard let fault = rest.popFirst().flatMap(Fault.init), let text = Self.text(rest) else { return nil }
            self = .refused(fault, text)
        case 7:
            var sections: [String] = []
            while !rest.isEmpty {
                guard sections.count < Self.sectionsMax, let section = CarrierRequest.text(&rest), CarrierGrammar.isSection(section) else {
                    return nil
                }
                sections.append(section)
            }
            self = .changed(sections)
        case 8 where rest.isEmpty: self = .present
        case 9 where rest.count == 16:
            guard let revision = Int64(exactly: Self.number(rest.suffix(8))), revision > 0 else { return nil }
            self = .revision(cluster: Self.number(rest.prefix(8)), revision: revision)
        default: return nil
        }
    }

    package var bytes: [UInt8] {
        switch self {
        case .ready(let text): return [0] + Self.bounded(text)
        case .done: return [1]
        case .names(let names): return [2] + Self.listed(names)
        case .file(let file): return [3] + file
        case .absent: return [4]
        case .taken: return [5]
        case .refused(let fault, let text): return [6, fault.rawValue] + Self.bounded(text)
        case .changed(let sections): return [7] + Self.listed(sections)
        case .present: return [8]
        case .revision(let cluster, let revision): return [9] + Self.encoded(cluster) + Self.encoded(UInt64(bitPattern: revision))
        }
    }

    private static func listed(_ texts: [String]) -> [UInt8] { texts.flatMap { [UInt8($0.utf8.count)] + $0.utf8 } }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func encoded(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.count <= textBytesMax ? String(validating: bytes, as: UTF8.self) : nil
    }

    /// Truncates the text to as many whole characters as fit.
    private static func bounded(_ text: String) -> [UInt8] {
        var text = text
        while text.utf8.count > textBytesMax { text.removeLast() }
        return Array(text.utf8)
    }
}
