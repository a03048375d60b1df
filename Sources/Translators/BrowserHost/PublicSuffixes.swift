internal import VaubanBrowserSetup
internal import VaubanLinuxHost

/// The public-suffix list (publicsuffix.org): the names below which anyone can register a domain.
package struct PublicSuffixes: Sendable {
    private let rules: Set<String>

    /// Reads the list of this machine. Returns nil if there is none; then only whole hosts match.
    static func installed() -> PublicSuffixes? {
        SmallFile.bytes(path: BrowserSetup.suffixesPath, max: BrowserLimits.suffixesBytesMax).map { PublicSuffixes($0) }
    }

    /// Parses the list: one rule on each line, up to the first space; `//` begins a comment. Internationalized labels are kept as browsers
    /// write them.
    package init(_ list: [UInt8]) {
        var rules: Set<String> = []
        rules.reserveCapacity(16_384)
        for line in list.split(separator: 0x0A) {
            guard line.first != UInt8(ascii: "/") else { continue }
            let rule = line.prefix { $0 > 0x20 }
            if !rule.isEmpty { rules.insert(Self.written(String(decoding: rule, as: UTF8.self))) }
        }
        self.rules = rules
    }

    /// Returns a rule in the form of hosts, which have Punycode in place of internationalized labels.
    private static func written(_ rule: String) -> String {
        guard rule.utf8.contains(where: { $0 >= 0x80 }) else { return rule }
        let isException = rule.hasPrefix("!")
        let labels = rule.dropFirst(isException ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
        return (isException ? "!" : "") + labels.map(Punycode.label).joined(separator: ".")
    }

    /// Returns the domain that was registered for a host: its public suffix and one label before it. Returns nil if the host is itself a
    /// public suffix.
    package func registrableDomain(of host: String) -> String? {
        let labels = host.split(separator: ".").map(String.init)
        guard labels.count > 1 else { return nil }
        // Without a rule, the last label is the suffix.
        var suffixCount = 1
        for start in labels.indices {
            let name = labels[start...].joined(separator: ".")
            if rules.contains("!\(name)") {
                suffixCount = labels.count - start - 1
                break
            }
            let above = labels[(start + 1)...].joined(separator: ".")
            if rules.contains(name) || (!above.isEmpty && rules.contains("*.\(above)")) {
                suffixCount = labels.count - start
                break
            }
        }
        guard suffixCount < labels.count else { return nil }
        return labels.suffix(suffixCount + 1).joined(separator: ".")
    }
}
