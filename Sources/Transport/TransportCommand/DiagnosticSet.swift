import VaubanTransportPolicy

/// One set of exceptions to try. The sets and their groups are those of Apple's `nscurl --ats-diagnostics`.
struct DiagnosticSet {
    let group: String
    let name: String
    let configuration: TransportConfiguration

    static func all(for host: String) -> [DiagnosticSet] {
        var sets = [DiagnosticSet(group: "Default ATS", name: "no exceptions", configuration: strict)]
        var everything = TransportConfiguration()
        everything.allowsArbitraryLoads = true
        sets.append(DiagnosticSet(group: "Allow all loads", name: "NSAllowsArbitraryLoads", configuration: everything))
        sets += versions(host, group: "TLS exceptions")
        sets.append(exception(host, group: "PFS exception", name: "no forward secrecy") { $0.requiresForwardSecrecy = false })
        sets.append(
            exception(host, group: "PFS exception and insecure HTTP", name: "no forward secrecy, insecure HTTP") {
                $0.requiresForwardSecrecy = false
                $0.allowsInsecureHTTPLoads = true
            })
        sets += versions(host, group: "TLS exceptions with PFS off") { $0.requiresForwardSecrecy = false }
        sets += versions(host, group: "TLS exceptions with PFS off and insecure HTTP") {
            $0.requiresForwardSecrecy = false
            $0.allowsInsecureHTTPLoads = true
        }
        return sets
    }

    /// No exceptions, not even for local hosts.
    private static var strict: TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.allowsLocalNetworking = false
        return configuration
    }

    private static func versions(_ host: String, group: String, change: (inout DomainException) -> Void = { _ in }) -> [DiagnosticSet] {
        TransportVersion.allCases.reversed().map { version in
            exception(host, group: group, name: "minimum \(version.propertyListValue)") {
                $0.minimumVersion = version
                change(&$0)
            }
        }
    }

    private static func exception(
        _ host: String, group: String, name: String, change: (inout DomainException) -> Void
    ) -> DiagnosticSet {
        var exception = DomainException()
        change(&exception)
        var configuration = strict
        configuration.exceptions[host.lowercased()] = exception
        return DiagnosticSet(group: group, name: name, configuration: configuration)
    }
}
