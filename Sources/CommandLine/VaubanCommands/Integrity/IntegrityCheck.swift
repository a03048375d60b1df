/// One line of `vauban integrity status`: a protection, whether it is in force, and how that was determined.
package struct IntegrityCheck: Encodable, Sendable, Hashable {
    package enum State: String, Encodable, Sendable {
        case met, notMet, unknown
    }

    package enum Area: String, Encodable, Sendable, CaseIterable {
        case vauban, system, kernel
    }

    package let area: Area
    package let name: String
    package let state: State
    /// The evidence: what was found, and where.
    package let by: String
    /// Whether something was altered, or is weaker than the installation made it.
    package let isAltered: Bool
    /// What root can do in spite of it.
    package let root: String?
    /// The measure that would stop that.
    package let measure: String?

    package init(
        _ area: Area, _ name: String, is state: State, by: String, isAltered: Bool = false, root: String? = nil, measure: String? = nil
    ) {
        self.area = area
        self.name = name
        self.state = state
        self.by = by
        self.isAltered = isAltered
        self.root = root
        self.measure = measure
    }

    private enum CodingKeys: String, CodingKey {
        case area, name, state, by, isAltered = "altered", root, measure
    }
}

/// `vauban integrity status`, as text and as JSON. The keys must not change, since scripts use them.
package struct IntegrityReport: Encodable, Sendable {
    package let good: Bool
    package let checks: [IntegrityCheck]

    package init(_ checks: [IntegrityCheck]) {
        self.checks = checks
        good = !checks.contains(where: \.isAltered)
    }

    package var text: String {
        var lines: [String] = []
        for area in IntegrityCheck.Area.allCases {
            let rows = checks.filter { $0.area == area }
            guard !rows.isEmpty else { continue }
            if !lines.isEmpty { lines.append("") }
            lines.append(Self.title(area))
            for check in rows {
                lines.append("  \(TextColumns.label(Self.word(check), 9))\(TextColumns.label(check.name, 20))\(check.by)")
                let indent = String(repeating: " ", count: 31)
                if let root = check.root {
                    lines.append("\(indent)root can \(root)" + (check.measure.map { "; to stop that: \($0)" } ?? ""))
                } else if let measure = check.measure {
                    lines.append("\(indent)to have it: \(measure)")
                }
            }
        }
        lines.append("")
        lines.append(good ? "Nothing is altered." : "Something is altered or weaker than the installation made it.")
        return lines.joined(separator: "\n")
    }

    private static func title(_ area: IntegrityCheck.Area) -> String {
        switch area {
        case .vauban: "Vauban"
        case .system: "The system's files"
        case .kernel: "The kernel"
        }
    }

    private static func word(_ check: IntegrityCheck) -> String {
        if check.isAltered { return "ALTERED" }
        return switch check.state {
        case .met: "met"
        case .notMet: "not met"
        case .unknown: "unknown"
        }
    }
}
