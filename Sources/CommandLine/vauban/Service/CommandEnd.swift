import ArgumentParser
import Foundation
import Glibc
import VaubanAccessPolicy
import VaubanKeychainClient
import VaubanLinuxHost

/// How a command ends: the exit code is the low byte of Apple's status, as `security` has it; 64 is usage.
enum CommandEnd {
    static let usage: Int32 = 64

    static func code(of refusal: Refusal) -> Int32 { Int32(UInt8(truncatingIfNeeded: refusal.status)) }

    static func run(_ root: any ParsableCommand.Type) -> Never {
        do {
            var command = try root.parseAsRoot()
            try command.run()
            exit(0)
        } catch {
            end(error, root)
        }
    }

    private static func end(_ error: any Error, _ root: any ParsableCommand.Type) -> Never {
        // Another thread may still be asking on this terminal.
        Interruption.putRight()
        switch error {
        case let refusal as Refusal:
            say("vauban: \(refusal.message)")
            exit(code(of: refusal))
        case let several as SeveralMatches:
            say(several.description)
            exit(usage)
        case is SystemFault, is PrivateFolder.Fault:
            say("vauban: \(error)")
            exit(code(of: Refusal(.unavailable)))
        default:
            // The parser's own: help, usage, and exit codes that a verb chose.
            root.exit(withError: error)
        }
    }
}
