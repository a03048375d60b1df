import AsyncHTTPClient
import NIOCore
import NIOSSL
import VaubanEtcd
import VaubanLinuxHost

/// Brings requests to the first node that serves them, within one deadline.
actor EtcdClient: EtcdCaller {
    let account: EtcdAccount
    let password: [UInt8]?
    let client: HTTPClient
    /// The nodes, the one that answered last first.
    var endpoints: [EtcdEndpoint]
    private(set) var token: String?

    init(_ folder: AccountFolder) throws(EtcdFault) {
        account = folder.account
        password = folder.secrets?.password
        endpoints = folder.account.endpoints
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(Int64(EtcdLimits.connectSeconds))
        // A watch that says nothing for so long is made anew.
        configuration.timeout.read = .seconds(Int64(EtcdLimits.watchSilenceSeconds))
        // The next node is asked instead.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let secrets = folder.secrets { configuration.tlsConfiguration = try Self.tls(secrets) }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private static func tls(_ secrets: AccountFolder.Secrets) throws(EtcdFault) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        do {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(secrets.authority))
            tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(secrets.certificate).map { .certificate($0) }
        } catch {
            throw .account("ca.pem or certificate.pem of the account is not a PEM certificate")
        }
        do {
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: secrets.key, format: .pem))
        } catch {
            throw .account("key.pem of the account is not a PEM key without a passphrase")
        }
        return tls
    }

    /// Asks each node in turn, and all of them again while one says that it cannot answer now, as when the nodes choose a new leader.
    func call<Value: Sendable>(
        _ request: EtcdRequest, _ read: @Sendable (EtcdReply) throws(EtcdFault) -> Value
    ) async throws(EtcdFault) -> Value {
        let end = NIODeadline.now() + .seconds(Int64(EtcdLimits.requestSeconds))
        var found: [EtcdEndpoint: String] = [:]
        var pause = EtcdLimits.pauseMillisecondsMin
        while true {
            var isBusy = false
            let nodes = endpoints
            for (number, endpoint) in nodes.enumerated() where NIODeadline.now() < end {
                let time = NodeTime(end: end, nodesAfter: nodes.count - 1 - number)
                do throws(EtcdFault) {
                    let value = try read(try await ask(endpoint, request, within: time))
                    endpoints = [endpoint] + endpoints.filter { $0 != endpoint }
                    return value
                } catch {
                    guard error.mayPass else { throw EtcdFault(error.kind, "etcd at \(endpoint) \(error.text)") }
                    found[endpoint] = error.text
                    if error.kind == .busy || error.kind == .unauthenticated { isBusy = true }
                }
            }
            guard isBusy, NIODeadline.now() < end else { break }
            do { try await Task.sleep(for: .milliseconds(pause)) } catch { break }
            pause = min(2 * pause, EtcdLimits.pauseMillisecondsMax)
        }
        let nodes = account.endpoints.compactMap { endpoint in found[endpoint].map { "\(endpoint) \($0)" } }
        // The way out first: the rest is cut if it is long.
        throw EtcdFault(
            .unreachable,
            "No node of etcd can be used; try again later, or correct the file account: \(nodes.joined(separator: "; "))")
    }

    /// When all requests to one node must have ended, and how many nodes are asked after it.
    private struct NodeTime {
        let end: NIODeadline
        let nodesAfter: Int

        var seconds: Int {
            EtcdLimits.secondsOfNode(left: Int((end - .now()).nanoseconds / 1_000_000_000), nodesAfter: nodesAfter)
        }
    }

    /// Asks one node, with a new token if it does not know this one.
    private func ask(_ endpoint: EtcdEndpoint, _ request: EtcdRequest, within time: NodeTime) async throws(EtcdFault) -> EtcdReply {
        guard password != nil else { return try await send(request, to: endpoint, token: nil, within: time) }
        if let token {
            do throws(EtcdFault) {
                return try await send(request, to: endpoint, token: token, within: time)
            } catch {
                guard error.kind == .unauthenticated else { throw error }
            }
        }
        return try await send(request, to: endpoint, token: try await freshToken(endpoint, time), within: time)
    }

    /// Returns a new token of a node, which is used from then on.
    func freshToken(_ endpoint: EtcdEndpoint) async throws(EtcdFault) -> String {
        try await freshToken(endpoint, NodeTime(end: .now() + .seconds(Int64(EtcdLimits.requestSeconds)), nodesAfter: 0))
    }

    private func freshToken(_ endpoint: EtcdEndpoint, _ time: NodeTime) async throws(EtcdFault) -> String {
        guard let password else { throw .garbage }
        let authenticate = EtcdRequest.authenticate(user: account.user, password: password)
        let fresh = try await send(authenticate, to: endpoint, token: nil, within: time).token()
        token = fresh
        return fresh
    }

    private func send(
        _ request: EtcdRequest, to endpoint: EtcdEndpoint, token: String?, within time: NodeTime
    ) async throws(EtcdFault) -> EtcdReply {
        // Whoever asked has been told that this took too long, and must not find it done later.
        guard !Task.isCancelled else { throw EtcdFault(.refused, "was not asked any more") }
        let seconds = time.seconds
        let exchange = Exchange(client: client, url: "\(endpoint)\(request.path)", token: token, body: request.body)
        switch await Deadline.value(within: .seconds(seconds), { await exchange.run(seconds: Int64(seconds)) }) {
        case .success(let reply)?: return reply
        case .failure(let fault)?: throw fault
        case nil: throw .silent
        }
    }
}
