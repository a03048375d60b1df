import AsyncHTTPClient
import Glibc
import NIOCore
import NIOSSL
import VaubanEtcd
import VaubanLinuxHost

/// Sends requests to the first node that serves them, within one deadline.
actor EtcdClient: EtcdCaller {
    let account: EtcdAccount
    let password: [UInt8]?
    let client: HTTPClient
    /// When the account's certificates are valid; nil without TLS.
    private let validity: AccountValidity?
    /// The nodes, the one that last replied first.
    var endpoints: [EtcdEndpoint]
    private(set) var token: String?

    init(_ folder: AccountFolder) throws(EtcdError) {
        account = folder.account
        password = folder.secrets?.password
        endpoints = folder.account.endpoints
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(Int64(EtcdLimits.connectSeconds))
        // A watch that receives nothing for this long is replaced.
        configuration.timeout.read = .seconds(Int64(EtcdLimits.watchSilenceSeconds))
        // Use the next node instead of retrying this one.
        configuration.connectionPool.retryConnectionEstablishment = false
        let tls = try folder.secrets.map { (secrets) throws(EtcdError) in try Self.tls(secrets) }
        configuration.tlsConfiguration = tls?.configuration
        validity = tls?.validity
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private static func tls(
        _ secrets: AccountFolder.Secrets
    ) throws(EtcdError) -> (configuration: TLSConfiguration, validity: AccountValidity?) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        let authorities: [NIOSSLCertificate], certificates: [NIOSSLCertificate]
        do {
            authorities = try NIOSSLCertificate.fromPEMBytes(secrets.authority)
            certificates = try NIOSSLCertificate.fromPEMBytes(secrets.certificate)
        } catch {
            throw .account("ca.pem or certificate.pem of the account is not a PEM certificate")
        }
        tls.trustRoots = .certificates(authorities)
        tls.certificateChain = certificates.map { .certificate($0) }
        do {
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: secrets.key, format: .pem))
        } catch {
            throw .account("key.pem of the account is not a PEM key without a passphrase")
        }
        // Otherwise every connection would fail, as if the nodes were at fault.
        do { _ = try NIOSSLContext(configuration: tls) } catch {
            throw .account("key.pem of the account is not the key of its certificate.pem; copy the whole account again")
        }
        return (tls, AccountValidity(certificates: certificates.map(\.period), authorities: authorities.map(\.period)))
    }

    /// Why nodes cannot be used, to be filled.
    var noFaults: EtcdFaults { EtcdFaults(of: account, validity) }

    /// Tries each node in turn, and all of them again while one reports that it cannot serve now, as when the nodes elect a new leader.
    func call<Value: Sendable>(
        _ request: EtcdRequest, _ read: @Sendable (EtcdReply) throws(EtcdError) -> Value
    ) async throws(EtcdError) -> Value {
        let end = NIODeadline.now() + .seconds(Int64(EtcdLimits.requestSeconds))
        var faults = noFaults
        // Randomized: all devices of all users notice at the same time that etcd has no leader.
        var backoff = Backoff(from: EtcdLimits.pauseMillisecondsMin, to: EtcdLimits.pauseMillisecondsMax, spread: true)
        while true {
            var isBusy = false
            let nodes = endpoints
            for (number, endpoint) in nodes.enumerated() where NIODeadline.now() < end {
                let time = NodeTime(end: end, nodesAfter: nodes.count - 1 - number)
                do throws(EtcdError) {
                    let value = try read(try await ask(endpoint, request, within: time))
                    endpoints = [endpoint] + endpoints.filter { $0 != endpoint }
                    return value
                } catch {
                    guard error.mayPass else { throw EtcdError(error.kind, "etcd at \(endpoint) \(error.text)") }
                    faults.note(error, at: endpoint)
                    if error.kind == .busy || error.kind == .unauthenticated { isBusy = true }
                }
            }
            guard isBusy, NIODeadline.now() < end else { break }
            do { try await Task.sleep(for: .milliseconds(Int(backoff.pause()))) } catch { break }
        }
        throw faults.fault(at: Int64(time(nil)))
    }

    /// The time at which all requests to one node must have ended, and the number of nodes to try after it.
    private struct NodeTime {
        let end: NIODeadline
        let nodesAfter: Int

        var seconds: Int {
            EtcdLimits.secondsOfNode(left: Int((end - .now()).nanoseconds / 1_000_000_000), nodesAfter: nodesAfter)
        }
    }

    /// Sends the request to one node, with a new token if the node does not accept this one.
    private func ask(_ endpoint: EtcdEndpoint, _ request: EtcdRequest, within time: NodeTime) async throws(EtcdError) -> EtcdReply {
        guard password != nil else { return try await send(request, to: endpoint, token: nil, within: time) }
        if let token {
            do throws(EtcdError) {
                return try await send(request, to: endpoint, token: token, within: time)
            } catch {
                guard error.kind == .unauthenticated else { throw error }
            }
        }
        return try await send(request, to: endpoint, token: try await freshToken(endpoint, time), within: time)
    }

    /// Gets a new token of a node, and keeps it for later requests.
    func freshToken(_ endpoint: EtcdEndpoint) async throws(EtcdError) -> String {
        try await freshToken(endpoint, NodeTime(end: .now() + .seconds(Int64(EtcdLimits.requestSeconds)), nodesAfter: 0))
    }

    private func freshToken(_ endpoint: EtcdEndpoint, _ time: NodeTime) async throws(EtcdError) -> String {
        guard let password else { throw .garbage }
        let authenticate = EtcdRequest.authenticate(user: account.user, password: password)
        let fresh = try await send(authenticate, to: endpoint, token: nil, within: time).token()
        token = fresh
        return fresh
    }

    private func send(
        _ request: EtcdRequest, to endpoint: EtcdEndpoint, token: String?, within time: NodeTime
    ) async throws(EtcdError) -> EtcdReply {
        // The caller has received a timeout, so the request must not be performed later.
        guard !Task.isCancelled else { throw EtcdError(.refused, "was not asked any more") }
        let seconds = time.seconds
        let exchange = Exchange(client: client, url: "\(endpoint)\(request.path)", token: token, body: request.body)
        switch await Deadline.value(within: .seconds(seconds), { await exchange.run(seconds: Int64(seconds)) }) {
        case .success(let reply)?: return reply
        case .failure(let fault)?: throw fault
        case nil: throw .silent
        }
    }
}

extension NIOSSLCertificate {
    fileprivate var period: AccountValidity.Period { AccountValidity.Period(first: Int64(notValidBefore), last: Int64(notValidAfter)) }
}
