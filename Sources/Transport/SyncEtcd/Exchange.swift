import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import VaubanEtcd

/// One request over HTTP.
struct Exchange: Sendable {
    let client: HTTPClient
    let url: String
    let token: String?
    let body: [UInt8]

    /// Returns the reply of a node that performed the request, otherwise the fault.
    func run(seconds: Int64) async -> Result<EtcdReply, EtcdError> {
        do {
            let response = try await client.execute(request, timeout: .seconds(seconds))
            return try await Self.whole(response)
        } catch {
            return .failure(Self.fault(error))
        }
    }

    /// Calls `take` with the lines of a reply that does not end by itself, until `take` returns false.
    /// - Parameter seconds: The longest time until the reply begins.
    /// - Throws: The fault of the node, or the error that `take` throws.
    func follow(
        seconds: Int64, isolation: isolated (any Actor)? = #isolation, _ take: ([UInt8]) throws(EtcdError) -> Bool
    ) async throws(EtcdError) {
        var request = request
        // A node that has lost its leader receives no changes; with this header it ends the watch.
        request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
        do {
            let response = try await client.execute(request, timeout: .seconds(seconds))
            guard response.status == .ok else {
                _ = try await Self.whole(response).get()
                throw EtcdError.garbage
            }
            var lines = EtcdLines()
            for try await buffer in response.body {
                for line in try lines.take(buffer.readableBytesView) where try !take(line) { return }
            }
        } catch let fault as EtcdError {
            throw fault
        } catch {
            throw Self.fault(error)
        }
        throw EtcdError.ended
    }

    private var request: HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        // Identifies the request as one of etcd's gateway, so that etcd does not take the node's own certificate for the user's.
        request.headers.add(name: "Accept", value: "application/json")
        if let token { request.headers.add(name: "Authorization", value: token) }
        request.body = .bytes(body)
        return request
    }

    private static func whole(_ response: HTTPClientResponse) async throws -> Result<EtcdReply, EtcdError> {
        let reply = EtcdReply(Array(try await response.body.collect(upTo: EtcdRequest.replyBytesMax).readableBytesView))
        return response.status == .ok ? .success(reply) : .failure(reply.fault())
    }

    private static func fault(_ error: any Error) -> EtcdError {
        switch error {
        case is NIOTooManyBytesError: EtcdError(.garbage, "answers more than etcd does")
        case NIOSSLError.handshakeFailed(let reason): EtcdError(handshake: "\(reason)")
        case BoringSSLError.sslError(let reasons): EtcdError(connection: "\(reasons)")
        case let error as NIOSSLExtraError where error == .failedToValidateHostname: .otherHost
        case NIOSSLError.uncleanShutdown: .ended
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: EtcdError(handshake: "")
        case is HTTPParserError: .garbage
        case let error as HTTPClientError where isTime(error): .silent
        default: EtcdError(.unreachable, "is not reached")
        }
    }

    private static func isTime(_ error: HTTPClientError) -> Bool {
        let times: [HTTPClientError] = [
            .connectTimeout, .tlsHandshakeTimeout, .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout,
            .cancelled,
        ]
        return times.contains(error)
    }
}

extension EtcdError {
    static let silent = EtcdError(.unreachable, "does not answer in time")
    fileprivate static let ended = EtcdError(.unreachable, "has ended the connection")
}
