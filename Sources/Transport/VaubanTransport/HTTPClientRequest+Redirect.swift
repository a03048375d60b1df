#if Transport
package import AsyncHTTPClient
import Foundation
import NIOHTTP1

extension HTTPClientRequest {
    /// Returns the request that a response redirects to, or nil if it does not (RFC 9110, 15.4).
    package func redirected(by response: HTTPClientResponse) -> HTTPClientRequest? {
        guard [.movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect].contains(response.status),
            let location = response.headers.first(name: "Location"), let from = URL(string: url),
            let target = URL(string: location, relativeTo: from)?.absoluteURL
        else { return nil }
        var next = self
        next.url = target.absoluteString
        if becomesGET(by: response.status) {
            next.method = .GET
            next.body = nil
            for (name, _) in headers where Self.isAboutBody(name) { next.headers.remove(name: name) }
        } else if body != nil {
            // AsyncHTTPClient does not expose whether a body can be sent twice.
            return nil
        }
        if (from.scheme, from.host, from.port) != (target.scheme, target.host, target.port) {
            for name in ["Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin"] { next.headers.remove(name: name) }
        }
        return next
    }

    /// Returns whether the redirected request becomes a GET. For 301 and 302 only POST does, as in browsers: a DELETE that became a GET
    /// would seem to have succeeded.
    private func becomesGET(by status: HTTPResponseStatus) -> Bool {
        switch status {
        case .seeOther: method != .HEAD
        case .movedPermanently, .found: method == .POST
        default: false
        }
    }

    /// Returns whether a header describes the body, or its transfer.
    private static func isAboutBody(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("content-") || bodyHeaders.contains(name)
    }

    private static let bodyHeaders: Set = ["digest", "repr-digest", "last-modified", "transfer-encoding", "trailer", "expect"]
}
#endif
