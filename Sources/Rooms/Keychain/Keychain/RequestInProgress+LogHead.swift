// The request for the signed end of the access log (Specs/access-log.md, "The head").

internal import EnclaveWire
internal import KeychainStore
internal import VaubanKeychainWire
internal import VaubanLogHead
internal import VaubanRefusal

extension RequestInProgress {
    /// Sends the end of the log as the enclave signs it, after all records have been reported to it; or the head of another device's log,
    /// cosigned.
    func sendLogHead(_ query: LogHeadQuery) throws {
        guard caller.isUserAtCommandLine else { throw Refusal(.notAllowedHere, "Only the command line reads the access log: vauban log") }
        if query.request.cosigning == nil {
            writePending()
            // Later records after a fault must not hide it.
            if try fault(at: try enclave.anchorLog([]).end) == nil { try accessLog.anchor(in: enclave, of: database, immediately: true) }
        }
        let head = try enclave.signLogHead(query.request)
        let oldest = try database.logRows(after: 0, count: 1).first?.number ?? 0
        let chain = try query.at.flatMap { try database.logChain(at: $0) }
        try sink.send(.logHead(LogHeadReply(head: head, oldest: oldest, chain: chain)))
        try sink.send(.done)
    }
}
