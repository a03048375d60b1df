import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import VaubanAssociations
import VaubanLinuxHost
import VaubanTransport
import VaubanTransportPolicy

/// What asking a website gave.
package enum SiteOutcome: Sendable {
    case list([String])
    /// The rest of a sentence about the site.
    case failed(String)
}

/// One question to a website, within one deadline.
struct SiteFetch: Sendable {
    let host: String
    /// For the administrator: what the connection failed of.
    let log: Logger

    /// In this order; the second only if the first does not exist.
    private static let paths = ["/.well-known/apple-app-site-association", "/apple-app-site-association"]

    /// Returns at the deadline, whatever still has to end then; nil if the site cannot be asked now, but may be later.
    func run() async -> SiteOutcome? {
        // The deadline of both addresses together; the client's begins anew with each.
        let outcome = await Deadline.value(within: FetcherLimits.siteTime) { await ask() }
        guard let outcome else { return .failed("it took longer than \(FetcherLimits.siteTime.components.seconds) seconds to answer") }
        return outcome
    }

    private func ask() async -> SiteOutcome? {
        // The name is looked up once, and only an address that was judged is connected to: what its name servers answer later does not
        // count.
        let found: [NetworkAddress]
        do throws(BoundedWorkError) { found = try await HostLookup.addresses(of: host) } catch {
            // After the deadline nobody takes the outcome.
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
            // Everything is required that App Transport Security requires, with the system's authorities, and a redirect fails.
            let client = HTTPClient.secure(TransportConfiguration(), redirectsMax: 0, connectingTo: address)
            let outcome = await ask(client)
            // Ending connections takes its time, for which nobody waits.
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
            } catch let flaw as AssociationFlaw {
                return .failed(flaw.sentence)
            } catch let error as TransportError {
                return .failed("its connection is not accepted (\(error.rule.rawValue))")
            } catch let error as HTTPClientError where error == .redirectLimitReached {
                return .failed("it redirects; redirects are not followed")
            } catch is NIOTooManyBytesError {
                return .failed(AssociationFlaw.size.sentence)
            } catch is CancellationError {
                return .failed("it took too long")
            } catch {
                return unreachable(error)
            }
        }
        return .failed("it has no association file")
    }

    /// Returns the applications of the file at this path, or why the answer is no file; nil if there is none.
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
            throw AssociationFlaw.size
        }
        let body = try await response.body.collect(upTo: AssociationFile.bytesMax)
        return .list(try AssociationFile(Array(body.readableBytesView)).webCredentials)
    }
}
