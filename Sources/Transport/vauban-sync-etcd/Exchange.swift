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

    /// Returns the answer of a node that performed the request, and otherwise what is wrong.
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
            return .failure(.silent)
        } catch {
            return .failure(EtcdFault(.unreachable, "is not reached"))
        }
    }

    private static func isTime(_ error: HTTPClientError) -> Bool {
        let times: [HTTPClientError] = [
            .connectTimeout, .tlsHandshakeTimeout, .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout,
            .cancelled,
        ]
        return times.contains(error)
    }

    private static let untrusted = EtcdFault(
        .unreachable,
        "failed the TLS handshake; check that ca.pem issued its certificate, that the certificate has this host name, and that yours "
            + "has not expired")
}

extension EtcdFault {
    static let silent = EtcdFault(.unreachable, "does not answer in time")
}
