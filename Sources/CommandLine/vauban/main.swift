import ArgumentParser
import VaubanLinuxHost

// First of all, while there is one thread: from here on a signal finds the terminal's mode put right.
Interruption.begin()
// A passcode or a value may pass through; it stays out of swap and dumps. Without memfd_secret, which would keep the machine
// from hibernating for as long as a prompt waits.
SecretArena.hold(without: [.memfdSecret])
// Git runs a helper by its name, which is a link to this program.
let isForGit = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) == GitCredential.programName
CommandEnd.run(isForGit ? GitCredential.self : VaubanCommand.self)
