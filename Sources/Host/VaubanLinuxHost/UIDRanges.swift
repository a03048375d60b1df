/// Ranges of uids and their owners, each from a line of a file.
package struct UIDRanges: Sendable {
    package struct Line: Sendable {
        package let uids: ClosedRange<UInt32>
        /// The owner; nil if each number is its own owner.
        package let owner: UInt32?
        /// Whether the line names a user as the owner.
        let named: Bool

        func owner(of uid: UInt32) -> UInt32 { owner ?? uid }
    }

    /// The lines in file order. The first line that contains a uid counts.
    package private(set) var lines: [Line] = []
    /// The line numbers of lines that could not be parsed.
    private(set) var wrong: [Int] = []

    init() {}

    /// Parses `NAME-OR-NUMBER:FIRST:COUNT`, as in subuid(5). An owner who is not in the system's list, such as a directory's user, is
    /// represented by the first number of the range.
    init(subuid text: [UInt8], numbers: [String: UInt32]) {
        read(text) { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 3, let first = UInt32(digits: fields[1]), let count = UInt32(digits: fields[2]), count > 0,
                case let (last, false) = first.addingReportingOverflow(count - 1)
            else { return nil }
            let owner = numbers[String(fields[0])] ?? UInt32(digits: fields[0])
            return Line(uids: first...last, owner: owner ?? first, named: true)
        }
    }

    /// Parses root's list: `UID` or `FIRST-LAST`, followed by nothing (the line is one owner), by `each` (each number is an owner), or by
    /// the owner.
    package init(allowed text: [UInt8], numbers: [String: UInt32]) {
        read(text) { line in
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard words.count <= 2, let ends = words.first?.split(separator: "-", omittingEmptySubsequences: false), ends.count <= 2,
                let first = ends.first.flatMap({ UInt32(digits: $0) }), let last = ends.last.flatMap({ UInt32(digits: $0) }), first <= last,
                last != Accounts.unlistedOwner
            else { return nil }
            guard words.count == 2 else { return Line(uids: first...last, owner: first, named: false) }
            if words[1] == "each" { return Line(uids: first...last, owner: nil, named: false) }
            guard let owner = numbers[String(words[1])] ?? UInt32(digits: words[1]) else { return nil }
            return Line(uids: first...last, owner: owner, named: true)
        }
    }

    func line(of uid: UInt32) -> Line? { lines.first { $0.uids.contains(uid) } }

    private mutating func read(_ text: [UInt8], _ parse: (Substring) -> Line?) {
        let all = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in all.enumerated() {
            let words = line.drop(while: \.isWhitespace)
            guard !words.isEmpty, !words.hasPrefix("#") else { continue }
            if let line = parse(line) { lines.append(line) } else { wrong.append(index + 1) }
        }
    }
}
