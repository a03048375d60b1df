// The access log, for the command line (Specs/access-log.md).

package import VaubanKeychainWire
package import VaubanRefusal

extension KeychainClient {
    /// Returns a page of the access log, the newest records first. An empty page means that there are no earlier records.
    package func accessLogPage(_ query: AccessLogQuery, waiting: Waiting? = nil) throws(Refusal) -> AccessLogPage {
        guard let page = try call(.accessLog(query), secret: nil, password: nil, waiting: waiting).accessLog else {
            throw Refusal(.internalError, "the service sent no access log; update Vauban")
        }
        return page
    }
}
