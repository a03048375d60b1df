import ArgumentParser
import Foundation
import VaubanTransport
import VaubanTransportPolicy

struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Load a URL under the rules of a property list.",
        discussion: """
            Without --plist and --program, there are no exceptions. Names each key of the property list that has no effect.
            """)

    @Option(help: "The property list of an application.")
    var plist: String?

    @Option(help: "An executable, to read the property list that is embedded in it or beside it.")
    var program: String?

    @Option(help: "The purpose of the load: for media and web content, property lists have keys of their own.")
    var purpose = PurposeOption.general

    @OptionGroup var server: ServerOptions

    func validate() throws {
        if plist != nil, program != nil { throw ValidationError("--plist and --program cannot be combined") }
    }

    func run() async throws {
        var configuration = TransportConfiguration()
        do throws(TransportConfigurationError) {
            if let plist { configuration = try TransportConfiguration(contentsOfFile: plist) }
            if let program { configuration = try TransportConfiguration.ofProgram(atPath: program) }
        } catch {
            throw ValidationError(error.description)
        }
        for finding in configuration.findings { printToStandardError("Note: \(finding)") }
        let outcome = try await server.load(configuration, for: purpose.value)
        switch outcome {
        case .allowed(let status): print("Allowed: \(server.url) answered with status \(status).")
        case .refused(let error):
            printToStandardError("\(error.description)\nRule: \(error.rule.rawValue), NSURLErrorDomain \(error.urlErrorCode)")
            throw ExitCode(1)
        case .failed(let text):
            printToStandardError("Could not load \(server.url): \(text)")
            throw ExitCode(2)
        }
    }
}

/// The purpose of a load, as it is written after `--purpose`.
enum PurposeOption: String, CaseIterable, ExpressibleByArgument {
    case general
    case media
    case webContent = "web-content"

    var value: TransportPurpose {
        switch self {
        case .general: .general
        case .media: .media
        case .webContent: .webContent
        }
    }
}
