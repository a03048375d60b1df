import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import VaubanEtcd
import VaubanLinuxHost

/// Brings requests to the first node that serves them, within one deadline.
actor EtcdClient: EtcdCaller {
    private let account: EtcdAccount
    private let password: [UInt8]?
    private let client: HTTPClient
    /// The nodes, the one that answered last first.
    private var endpoints: [EtcdEndpoint]
    private var token: String?

    /// The node that answered last.
    var lastAnswering: EtcdEndpoint { endpoints[0] }

    init(_ folder: AccountFolder) throws(EtcdFault) {
        account = folder.account
        password = folder.password
        endpoints = folder.account.endpoints
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(Int64(EtcdLimits.connectSeconds))
        if let identity = folder.identity { configuration.tlsConfiguration = try Self.tls(identity) }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private static func tls(_ identity: AccountFolder.Identity) throws(EtcdFault) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        do {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(identity.authority))
            tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(identity.certificate).map { .certificate($0) }
        } catch {
            throw .account("ca.pem or certificate.pem of the account is no certificate in PEM form")
        }
        do {
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: identity.key, format: .pem))
        } catch {
            throw .account("key.pem of the account is no key in PEM form without a passphrase")
        }
        return tls
    }

    /// Asks each node in turn, and all of them again while one says that it cannot answer now, as when the nodes choose a new leader.
    func call(_ request: EtcdRequest) async throws(EtcdFault) -> EtcdReply {
        let end = NIODeadline.now() + .seconds(Int64(EtcdLimits.requestSeconds))
        var found: [EtcdEndpoint: String] = [:]
        while true {
            var isBusy = false
            for endpoint in endpoints where NIODeadline.now() < end {
                do throws(EtcdFault) {
                    let reply = try await ask(endpoint, request, until: end)
                    endpoints.removeAll { $0 == endpoint }
                    endpoints.insert(endpoint, at: 0)
                    return reply
                } catch {
                    guard error.mayPass else { throw EtcdFault(error.kind, "etcd at \(endpoint) \(error.text)") }
                    found[endpoint] = error.text
                    if error.kind == .busy || error.kind == .unauthenticated { isBusy = true }
                }
            }
            guard isBusy, NIODeadline.now() < end else { break }
            do { try await Task.sleep(for: .milliseconds(EtcdLimits.pauseMilliseconds)) } catch { break }
        }
        let nodes = account.endpoints.compactMap { endpoint in found[endpoint].map { "\(endpoint) \($0)" } }
        throw EtcdFault(.unreachable, "etcd cannot be used: \(nodes.joined(separator: "; ")). Try again later, or see the file account")
    }

    /// Asks one node, with a new token if it does not know this one.
    private func ask(_ endpoint: EtcdEndpoint, _ request: EtcdRequest, until end: NIODeadline) async throws(EtcdFault) -> EtcdReply {
        guard let password else { return try await send(endpoint, request, nil, until: end) }
        let authenticate = EtcdRequest.authenticate(user: account.user, password: password)
        if let token {
            do throws(EtcdFault) {
                return try await send(endpoint, request, token, until: end)
            } catch {
                guard error.kind == .unauthenticated else { throw error }
            }
        }
        let fresh = try await send(endpoint, authenticate, nil, until: end).token()
        token = fresh
        return try await send(endpoint, request, fresh, until: end)
    }

    private func send(
        _ endpoint: EtcdEndpoint, _ request: EtcdRequest, _ token: String?, until end: NIODeadline
    ) async throws(EtcdFault) -> EtcdReply {
        let left = Int((end - .now()).nanoseconds / 1_000_000_000)
        let seconds = min(EtcdLimits.secondsOfNode(among: account.endpoints.count), max(left, 1))
        let exchange = Exchange(client: client, url: "\(endpoint)\(request.path)", token: token, body: request.body)
        switch await Deadline.value(seconds: seconds, { await exchange.run(seconds: Int64(seconds)) }) {
        case .success(let reply)?: return reply
        case .failure(let fault)?: throw fault
        case nil: throw EtcdFault(.unreachable, "does not answer in time")
        }
    }
}

/// One request over HTTP.
private struct Exchange: Sendable {
    let client: HTTPClient
    let url: String
    let token: String?
    let body: [UInt8]

    func run(seconds: Int64) async -> Result<EtcdReply, EtcdFault> {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        // By this header etcd knows its gateway, and does not take the node's own certificate for the user's.
        request.headers.add(name: "Accept", value: "application/json")
        if let token { request.headers.add(name: "Authorization", value: token) }
        request.body = .bytes(body)
        do {
            let response = try await client.execute(request, timeout: .seconds(seconds))
            let bytes = Array(try await response.body.collect(upTo: EtcdRequest.replyBytesMax).readableBytesView)
            let reply = EtcdReply(bytes)
            guard response.status == .ok else { return .failure(reply.fault()) }
            return .success(reply)
        } catch is NIOTooManyBytesError {
            return .failure(EtcdFault(.garbage, "answers more than etcd does"))
        } catch is NIOSSLError {
            return .failure(Self.untrusted)
        } catch is NIOSSLExtraError {
            return .failure(Self.untrusted)
        } catch is BoringSSLError {
            return .failure(Self.untrusted)
        } catch is HTTPParserError {
            return .failure(.garbage)
        } catch let error as HTTPClientError where Self.isTime(error) {
            return .failure(EtcdFault(.unreachable, "does not answer in time"))
        } catch {
            return .failure(EtcdFault(.unreachable, "is not reached"))
        }
    }

    private static func isTime(_ error: HTTPClientError) -> Bool {
        [.connectTimeout, .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout, .cancelled].contains(error)
    }

    private static let untrusted = EtcdFault(
        .unreachable, "and this device do not trust each other (is ca.pem its authority, its name in its certificate, and yours valid?)")
}
