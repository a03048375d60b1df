public import Foundation

extension TransportConfiguration {
    /// Checks a request before it is sent, or a redirect before it is followed, by its URL alone: plain HTTP needs an exception, and the
    /// host must be a name or an address.
    ///
    /// For clients such as `URLSession` that follow redirects by themselves and give no access to their connections. Call it in
    /// `urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)`, and refuse the redirect if it throws.
    /// - Parameter purpose: The purpose of the load, for the keys of media and of web content.
    /// - Throws: ``TransportError`` with the rule that the request breaks: `invalidHost` also for a URL without a host.
    public func check(_ url: URL, purpose: TransportPurpose = .general) throws(TransportError) {
        let scheme = url.scheme?.lowercased() ?? ""
        let isSecure = scheme == "https" || scheme == "wss"
        let requirements = TransportRequirements(
            host: url.host ?? "", port: url.port ?? (isSecure ? 443 : 80), configuration: self, purpose: purpose)
        try requirements.check(scheme: isSecure ? "https" : "http")
    }
}
