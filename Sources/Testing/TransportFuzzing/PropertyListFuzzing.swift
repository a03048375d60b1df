package import FuzzFinding
import Foundation
import VaubanTransportPolicy

/// A fuzzer of the property lists in which applications declare exceptions. Reading either fails or yields rules that are the same each
/// time, that apply to the hosts they name, and that lower nothing else.
package enum PropertyListFuzzing {
    /// Returns the first inputs: each key once, in XML and in binary form.
    package static func seeds() throws -> [[UInt8]] {
        let pin: [String: Any] = ["SPKI-SHA256-BASE64": Data(repeating: 7, count: 32).base64EncodedString()]
        let list: [String: Any] = [
            "DTSDKName": "macosx14.0",
            "NSAppTransportSecurity": [
                "NSAllowsArbitraryLoads": true, "NSAllowsArbitraryLoadsForMedia": false, "NSAllowsArbitraryLoadsInWebContent": false,
                "NSAllowsLocalNetworking": true,
                "NSExceptionDomains": [
                    "a.example": ["NSIncludesSubdomains": true, "NSExceptionAllowsInsecureHTTPLoads": true],
                    "10.0.0.0/8": ["NSExceptionMinimumTLSVersion": "TLSv1.0"],
                    "2001:db8::/32": ["NSExceptionRequiresForwardSecrecy": false],
                ],
                "NSPinnedDomains": ["b.example": ["NSPinnedLeafIdentities": [pin], "NSPinnedCAIdentities": [pin]]],
            ] as [String: Any],
        ]
        let formats: [PropertyListSerialization.PropertyListFormat] = [.xml, .binary]
        return try formats.map { [UInt8](try PropertyListSerialization.data(fromPropertyList: list, format: $0, options: 0)) }
    }

    /// Returns whether the input is a property list.
    @discardableResult package static func run(_ input: [UInt8]) throws(Finding) -> Bool {
        let first = read(input), second = read(input)
        try require(first == second, "it is read in different ways")
        guard let first else { return false }
        try require(first.findings.count <= 100, "it has more findings than are kept")
        let publicAddresses = ["203.0.113.7", "[2001:db8::7]"]
        let hosts = ["example.com", "printer", "10.1.2.3", "[::ffff:10.1.2.3]"] + publicAddresses
        for host in hosts + first.exceptions.keys + first.pins.keys {
            let found = TransportRequirements(host: host, port: 443, configuration: first)
            let weak: Set<UInt16> = [0x0004, 0x0005, 0x000A, 0xC007, 0xC008, 0xC011, 0xC012]
            try require(weak.isDisjoint(with: found.cipherSuites), "RC4 or 3DES is offered")
            if found.basis == .standard {
                try require(
                    found.requiresTLS && found.requiresForwardSecrecy && found.requiresStrongKeys && found.requiresStrongHash
                        && found.minimumVersion == .tls12, "the standard requirements are lowered")
            }
            if publicAddresses.contains(host), first.sdk == .current {
                try require(found.basis != .localNetworking, "an address of the Internet counts as local")
            }
            if first.pins[host] != nil, !host.contains("/") { try require(found.pins != nil, "a pinned host has no pins") }
            if first.exceptions[host] != nil, !found.isAddress, !host.contains("/"), first.sdk.enforcesTransportSecurity {
                try require(found.basis == .exception(domain: host), "an entry does not apply to its own host")
            }
        }
        return true
    }

    private static func read(_ input: [UInt8]) -> TransportConfiguration? {
        try? TransportConfiguration(propertyList: Data(input))
    }
}
