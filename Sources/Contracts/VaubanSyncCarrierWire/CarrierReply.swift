/// The answer to a `CarrierRequest`, and what the program says first.
///
/// kind (1) ‖ content
package enum CarrierReply: Hashable, Sendable {
    /// The program is ready. The text names the place.
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
    /// The file is there that the request says must not be; nothing was done.
    case present

    package enum Fault: UInt8, CaseIterable, Sendable {
        /// Nobody answers, or nobody can answer now.
        case unreachable = 1
        /// The files that say where the carrier is and who asks cannot be used.
        case account = 2
        /// The carrier does not let this user in.
        case denied = 3
        case full = 4
        /// What is there is no file, or not all of it.
        case damaged = 5
    }

    package static let textBytesMax = 1000
    /// The sections that one reply names.
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
        }
    }

    private static func listed(_ texts: [String]) -> [UInt8] { texts.flatMap { [UInt8($0.utf8.count)] + $0.utf8 } }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.count <= textBytesMax ? String(validating: bytes, as: UTF8.self) : nil
    }

    /// Keeps as many whole characters as fit.
    private static func bounded(_ text: String) -> [UInt8] {
        var text = text
        while text.utf8.count > textBytesMax { text.removeLast() }
        return Array(text.utf8)
    }
}
