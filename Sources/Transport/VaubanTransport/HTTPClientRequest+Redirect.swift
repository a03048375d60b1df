#if Transport
import AsyncHTTPClient
import Foundation
import NIOHTTP1

extension HTTPClientRequest {
    /// Returns the request that a response redirects to, or nil if it does not (RFC 9110, 15.4).
    func redirected(by response: HTTPClientResponse) -> HTTPClientRequest? {
        guard [.movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect].contains(response.status),
            let location = response.headers.first(name: "Location"), let from = URL(string: url),
            let target = URL(string: location, relativeTo: from)?.absoluteURL
        else { return nil }
        var next = self
        next.url = target.absoluteString
        let keepsMethod =
            response.status == .temporaryRedirect || response.status == .permanentRedirect || method == .GET || method == .HEAD
        if keepsMethod {
            // AsyncHTTPClient does not say whether a body can be sent twice.
            if body != nil { return nil }
        } else {
            next.method = .GET
            next.body = nil
            for name in ["Content-Length", "Content-Type", "Transfer-Encoding"] { next.headers.remove(name: name) }
        }
        if (from.scheme, from.host, from.port) != (target.scheme, target.host, target.port) {
            for name in ["Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin"] { next.headers.remove(name: name) }
        }
        return next
    }
}
#endif
