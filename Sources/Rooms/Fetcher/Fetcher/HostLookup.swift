import Glibc
import VaubanLinuxHost
import VaubanTransportPolicy

/// Looks up the addresses of a host in the way that the system is configured to (getaddrinfo(3)).
enum HostLookup {
    /// A look-up outlives the query that needs it if the name servers do not answer in time.
    private static let lookUps = BoundedWork<String, [NetworkAddress]>(max: FetcherLimits.lookUpsMax) { HostLookup.lookUp($0) }

    /// Returns the addresses of a host in the order in which to try them; none if the host has none, or they cannot be found. May take any
    /// amount of time.
    ///
    /// - Throws: `busy` if too many hosts are being looked up, `cancelled` if the task is.
    static func addresses(of host: String) async throws(BoundedWorkError) -> [NetworkAddress] { try await lookUps.value(for: host) }

    private static func lookUp(_ host: String) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [NetworkAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            guard let address = address(in: entry.pointee), !found.contains(address) else { continue }
            found.append(address)
        }
        return found
    }

    private static func address(in entry: addrinfo) -> NetworkAddress? {
        guard let pointer = entry.ai_addr else { return nil }
        let place = UnsafeRawPointer(pointer)
        let length = Int(entry.ai_addrlen)
        switch entry.ai_family {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            var four = place.loadUnaligned(as: sockaddr_in.self).sin_addr
            return NetworkAddress(bytes: withUnsafeBytes(of: &four) { Array($0) })
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            var sixteen = place.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return NetworkAddress(bytes: withUnsafeBytes(of: &sixteen) { Array($0) })
        default: return nil
        }
    }
}
