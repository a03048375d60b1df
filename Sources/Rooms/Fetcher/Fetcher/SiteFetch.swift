import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import VaubanAssociations
import VaubanLinuxHost
import VaubanTransport
import VaubanTransportPolicy

/// The outcome of a query to a website.
package enum SiteOutcome: Sendable {
    case list([String])
    /// The rest of a sentence about the site.
    case failed(String)
}

/// One query to a website, within one deadline.
struct SiteFetch: Sendable {
    let host: String
    /// Tells the administrator why a connection failed.
    let log: Logger

    /// The paths to try, in this order; the second only if the site has no file at the first.
    private static let paths = ["/.well-known/apple-app-site-association", "/apple-app-site-association"]

    /// Returns the outcome, no later than the deadline, even if a connection still has to end; nil if the site can only be queried later.
    func run() async -> SiteOutcome? {
        // This deadline covers both paths together, whereas the client's timeout starts over with each.
        let outcome = await Deadline.value(within: FetcherLimits.siteTime) { await ask() }
        guard let outcome else { return .failed("it took longer than \(FetcherLimits.siteTime.components.seconds) seconds to answer") }
        return outcome
    }

    private func ask() async -> SiteOutcome? {
        // The name is looked up once, and the client connects only to an address that was checked: later answers of the name servers have
        // no effect.
        let found: [NetworkAddress]
        do throws(BoundedWorkError) { found = try await HostLookup.addresses(of: host) } catch {
            // There are too many look-ups, or the deadline has passed and the outcome is discarded.
            return nil
        }
        guard !found.isEmpty else { return .failed("its address cannot be found") }
        let rule = AllowedNetworks(log: log).rule
        let allowed = found.filter(rule.allows)
        if allowed.count < found.count {
            let refused = found.filter { !allowed.contains($0) }.prefix(FetcherLimits.addressesMax)
            log.notice(
                "addresses of a website are neither public nor in \(AllowedNetworks.path)",
                metadata: ["host": "\(host)", "addresses": "\(refused.map(\.description).joined(separator: " "))"])
        }
        guard !allowed.isEmpty else {
            return .failed("its address is not public, nor in a network that root allows in \(AllowedNetworks.path)")
        }
        do {
            let address = try await choice(of: allowed.prefix(FetcherLimits.addressesMax).map(\.description))
            // Requires everything that App Transport Security requires, trusts the system's authorities, and fails on a redirect.
            let client = HTTPClient.secure(TransportConfiguration(), redirectsMax: 0, connectingTo: address)
            let outcome = await ask(client)
            // Closing the connections takes time, so nothing waits for it.
            Task { try? await client.shutdown() }
            return outcome
        } catch {
            return unreachable(error)
        }
    }

    /// Returns the one address to connect to: where there are several, the first that can be reached.
    private func choice(of addresses: [String]) async throws -> String {
        if addresses.count == 1 { return addresses[0] }
        let end = NIODeadline.now() + FetcherLimits.siteTimeAmount
        return try await ReachableAddress.first(of: addresses, host: host, port: 443, before: end)
    }

    private func unreachable(_ error: any Error) -> SiteOutcome {
        log.notice("a website could not be reached", metadata: ["host": "\(host)", "why": "\(error)"])
        return .failed("it could not be reached over HTTPS")
    }

    private func ask(_ client: SecureHTTPClient) async -> SiteOutcome {
        for path in Self.paths {
            do {
                if let outcome = try await outcome(at: path, client) { return outcome }
            } catch let flaw as AssociationError {
                return .failed(flaw.sentence)
            } catch let error as TransportError {
                return .failed("its connection is not accepted (\(error.rule.rawValue))")
            } catch let error as HTTPClientError where error == .redirectLimitReached {
                return .failed("it redirects; redirects are not followed")
            } catch is NIOTooManyBytesError {
                return .failed(AssociationError.size.sentence)
            } catch is CancellationError {
                return .failed("it took too long")
            } catch {
                return unreachable(error)
            }
        }
        return .failed("it has no association file")
    }

    /// Returns the applications in the file at this path, or why the response is unusable; nil if there is no file.
    private func outcome(at path: String, _ client: SecureHTTPClient) async throws -> SiteOutcome? {
        var request = HTTPClientRequest(url: "https://\(host)\(path)")
        request.headers.add(name: "Accept", value: "application/json")
        let response = try await client.execute(request, timeout: FetcherLimits.siteTimeAmount)
        if response.status == .notFound || response.status == .gone { return nil }
        guard response.status == .ok else { return .failed("it answers with status \(response.status.code)") }
        let type = response.headers.first(name: "Content-Type")?.split(separator: ";").first?.lowercased() ?? ""
        guard type.filter({ $0 != " " }) == "application/json" else {
            return .failed("its association file is not served as application/json")
        }
        if let length = response.headers.first(name: "Content-Length").flatMap(Int.init), length > AssociationFile.bytesMax {
            throw AssociationError.size
        }
        let body = try await response.body.collect(upTo: AssociationFile.bytesMax)
        return .list(try AssociationFile(Array(body.readableBytesView)).webCredentials)
    }
}
