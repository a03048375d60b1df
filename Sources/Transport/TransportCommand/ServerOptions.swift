import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import VaubanTransport
import VaubanTransportPolicy

/// The options that both verbs need to load a URL.
struct ServerOptions: ParsableArguments {
    @Option(help: "A file of PEM certificates to trust in addition to the system's authorities.")
    var ca: String?

    @Argument(help: "The URL to load.")
    var url: String

    enum Outcome {
        case allowed(status: UInt)
        case refused(TransportError)
        /// The load failed for a reason that no rule names.
        case failed(String)
    }

    func validate() throws {
        guard let scheme = URL(string: url)?.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            throw ValidationError("\(url) is not an http or https URL")
        }
    }

    func load(_ configuration: TransportConfiguration, for purpose: TransportPurpose = .general) async throws -> Outcome {
        let trust: TransportTrust
        do {
            trust = try ca.map { try TransportTrust.systemAndFile(atPath: $0) } ?? .system
        } catch {
            throw ValidationError("\(ca ?? "") cannot be read as certificates in PEM form")
        }
        let client = try HTTPClient.secure(configuration, trust: trust)
        let outcome: Outcome
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30), purpose: purpose)
            outcome = .allowed(status: response.status.code)
        } catch let error as TransportError {
            outcome = .refused(error)
        } catch {
            outcome = .failed(String(describing: error))
        }
        try await client.shutdown()
        return outcome
    }
}

func printToStandardError(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
