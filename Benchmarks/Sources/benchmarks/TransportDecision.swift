import Foundation
import Glibc
import VaubanTransportPolicy

/// Measures the decision of App Transport Security about a host, with a property list of fifty exceptions and ten pinned domains. Prints
/// microseconds: for reading the property list, which a program does once, and for the decision, as the median over hosts with and without
/// an entry.
enum TransportDecision {
    static let argument = "transport"

    static func run() -> Never {
        do { try measure() } catch { end("\(error)", 1) }
        exit(0)
    }

    private static func measure() throws {
        let list = try PropertyListSerialization.data(fromPropertyList: content, format: .xml, options: 0)
        let reading = try Samples(200) { _ in try TransportConfiguration(propertyList: list) }
        let configuration = try TransportConfiguration(propertyList: list)
        let hosts = (0..<100).map { "www\($0).part\($0 % 7).domain\($0).example" }
        let deciding = try Samples(100_000) { index in
            TransportRequirements(host: hosts[index % hosts.count], port: 443, configuration: configuration)
        }
        print(String(format: "%.1f %.2f", reading.median, deciding.median))
    }

    private static var content: [String: Any] {
        var exceptions: [String: Any] = [:]
        var pins: [String: Any] = [:]
        for number in 0..<50 {
            exceptions["domain\(number).example"] = [
                "NSIncludesSubdomains": true, "NSExceptionMinimumTLSVersion": "TLSv1.2",
                "NSExceptionRequiresForwardSecrecy": number % 2 == 0,
            ]
        }
        for number in 0..<10 {
            let digest = Data(repeating: UInt8(number), count: 32).base64EncodedString()
            pins["domain\(number).example"] = [
                "NSIncludesSubdomains": true, "NSPinnedLeafIdentities": [["SPKI-SHA256-BASE64": digest]],
            ]
        }
        return ["NSAppTransportSecurity": ["NSExceptionDomains": exceptions, "NSPinnedDomains": pins]]
    }
}
