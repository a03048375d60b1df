// The watcher, or with `--state` the reader, on a private bus and with the login manager or fprintd of a user that the test
// chooses; never installed.

import FingerprintReader
import Watcher

let arguments = "--bus ADDRESS --bus-owner-uid N"

/// Parses the arguments of this program, which follow those of the room.
func bus(_ words: [String]) -> (address: String, owner: UInt32)? {
    guard words.count == 4, words[0] == "--bus", words[2] == "--bus-owner-uid", let owner = UInt32(words[3]) else { return nil }
    return (words[1], owner)
}

if CommandLine.arguments.contains("--state") {
    ReaderProgram.main(usage: "vauban-attendant-testing --enclave-folder DIR --enclave-uid N --state DIR \(arguments)") { words in
        bus(words).map { ReaderSettings(bus: $0.address, daemonUID: $0.owner) }
    }
}
WatcherProgram.main(usage: "vauban-attendant-testing --enclave-folder DIR --enclave-uid N \(arguments)") { words, user in
    bus(words).map { WatcherSettings(bus: $0.address, managerUID: $0.owner, onlyUser: user) }
}
