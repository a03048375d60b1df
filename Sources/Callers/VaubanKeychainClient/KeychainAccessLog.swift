// The access log, for the command line (Specs/access-log.md).

package import VaubanKeychainWire
package import VaubanRefusal

extension KeychainClient {
    /// Returns a page of the access log, the newest records first. An empty page means that there are no earlier records.
    package func accessLogPage(_ query: AccessLogQuery, waiting: Waiting? = nil) throws(Refusal) -> AccessLogPage {
        guard case .accessLog(let page)? = try call(.accessLog(query), secret: nil, password: nil, waiting: waiting).reply else {
            throw Refusal(.internalError, "the service sent no access log; update Vauban")
        }
        return page
    }
}

extension KeychainClient {
    /// Returns when and by which program an item was last read and changed.
    package func lastUses(of item: [UInt8]) throws(Refusal) -> LastUses {
        guard case .lastUses(let uses)? = try call(.lastUses(of: item), secret: nil, password: nil, waiting: nil).reply else {
            throw Refusal(.internalError, "the service did not say how the item was used; update Vauban")
        }
        return uses
    }
}

extension KeychainClient {
    /// Returns the end of the access log as the enclave signs it, or another device's, cosigned.
    package func logHead(_ query: LogHeadQuery = LogHeadQuery()) throws(Refusal) -> LogHeadReply {
        guard case .logHead(let head)? = try call(.logHead(query), secret: nil, password: nil, waiting: nil).reply else {
            throw Refusal(.internalError, "the service signed no end of the access log; update Vauban")
        }
        return head
    }
}
