// The applications that websites list. Only the fetcher, the one process with network access, can read them (Specs/associated-domains.md).

internal import VaubanAssociations
internal import VaubanAssociationsWire
internal import VaubanDER
package import VaubanLinuxHost
internal import VaubanRefusal

package protocol SiteLists: Sendable {
    /// Returns the applications that a website lists for its passwords. Throws a `Refusal` that explains why there is no list.
    func applications(of host: String) throws -> [String]
}

package struct FetchedSiteLists: SiteLists {
    private let address: ServerAddress

    package init(address: ServerAddress) { self.address = address }

    package func applications(of host: String) throws -> [String] {
        guard let request = SiteListRequest(host: host) else { throw Refusal(.badParameter, "This is not the name of a website") }
        let reply: SiteListReply
        do {
            let channel = try address.connect()
            try channel.send(header: try request.encoded())
            reply = try SiteListReply(derBytes: channel.receive(.after(KeychainLimits.siteTime)).header)
        } catch {
            throw Refusal(
                .unavailable, "\(host) could not be asked which applications it lists: the fetcher is busy or does not answer; try again")
        }
        switch reply {
        case .failed(let why): throw Refusal(.notAllowedHere, "\(host) did not approve this application: \(why)")
        case .list(_, let age) where age > KeychainLimits.siteListAgeSecondsMax:
            throw Refusal(.unavailable, "The list of \(host) is too old; try again")
        case .list(let applications, _): return applications
        }
    }
}
