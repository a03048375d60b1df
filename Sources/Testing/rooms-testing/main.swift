// rooms-testing: the rooms with what a test needs to play its part. Never installed. It is one program, since each of several would link
// most of what the others do; a process is one room.
//
//   rooms-testing --home DIR --sockets DIR [--ready-descriptor N]       the launcher, which starts the following as rooms
//   rooms-testing enclaved ARGUMENTS…                                   with a cheap key derivation; see EnclaveForTests
//   rooms-testing keychaind ARGUMENTS…                                  with a clock that a test moves; see KeychainForTests
//   rooms-testing vauban-watcher|vauban-reader ARGUMENTS…               on a private bus; see AttendantsForTests
//   rooms-testing with-socket NAME=FOLDER/SOCKET|- -- COMMAND…          any command with a socket as systemd passes it; see PassedSocket

import Glibc

func fail(_ why: String) -> Never {
    let line = "rooms-testing: \(why)\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
    exit(64)
}

let arguments = RoomArguments(Array(CommandLine.arguments.dropFirst(2)))
switch CommandLine.arguments.dropFirst().first {
case "enclaved": EnclaveForTests.main(arguments)
case "keychaind": KeychainForTests.main(arguments)
case "vauban-watcher": AttendantsForTests.watcher(arguments)
case "vauban-reader": AttendantsForTests.reader(arguments)
case "with-socket": PassedSocket.main(arguments.words)
case .some(let word) where !word.hasPrefix("--"): fail("There is no room \(word)")
default: LauncherForTests.main()
}
