/// Why etcd, or one of its nodes, did not perform a request. `text` is the rest of a sentence about the node unless the kind documents
/// otherwise.
package struct EtcdError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The account's own files are invalid; `text` is a whole clause.
        case account
        /// There is no connection, or no reply.
        case unreachable
        /// A certificate was not accepted while the connection was made: this device does not accept the node's, or what answers in the
        /// node's place does not accept the account's.
        case certificate
        /// The node does not accept the account's certificate, and has proven before that it is a node.
        case accountCertificate
        /// The node replies that it cannot serve now; another one, or the same one later, may.
        case busy
        /// The reply is not one of etcd's.
        case garbage
        /// The token is invalid or has expired.
        case unauthenticated
        case denied
        case full
        /// The node refuses, for a reason that applies to the other nodes too.
        case refused
        /// The stored value is not a file; `text` is a whole clause.
        case damaged
    }

    package let kind: Kind
    package let text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    package static func account(_ text: String) -> EtcdError { EtcdError(.account, text) }
    package static let garbage = EtcdError(.garbage, "does not answer as etcd does")

    /// Whether another node, or this one later, may perform the request.
    package var mayPass: Bool {
        [.unreachable, .certificate, .accountCertificate, .busy, .garbage, .unauthenticated].contains(kind)
    }

    /// Creates the fault for an error of etcd's gateway, from its gRPC code and the beginning of its text.
    package init(code: Int64, message: String) {
        let said = String(decoding: message.utf8.prefix(160).filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
        switch code {
        case 16: self.init(.unauthenticated, "does not accept the token that it gave")
        // The users or roles have changed since the token was issued.
        case 3 where said.contains("revision of auth store is old"): self.init(.unauthenticated, "does not accept the token that it gave")
        case 3 where said.contains("authentication failed"):
            self.init(.denied, "refuses the user or the password; ask the operator for a new one")
        case 3 where said.contains("user name is empty"):
            self.init(.denied, "needs a password; write the one from its operator to the file password")
        case 9 where said.contains("authentication is not enabled"):
            self.init(.denied, "accepts anyone; its operator must run: etcdctl auth enable")
        // A node that does not serve users yet.
        case _ where said.contains("rpc not supported for learner"): self.init(.busy, "cannot answer now (\(said))")
        case 7: self.init(.denied, "does not let this user use its own keys; its operator must run: Install/etcd/add-user")
        case 8 where said.contains("space exceeded"):
            self.init(
                .full,
                "is full; its operator must raise --quota-backend-bytes or delete what users left behind, then run etcdctl alarm disarm")
        case 1, 2, 4, 8, 10, 13, 14: self.init(.busy, "cannot answer now (\(said))")
        default: self.init(.refused, "refuses (\(said))")
        }
    }
}
