// The room that holds records. What it does stands in Sources/Rooms/Keychain/Keychain.

import Keychain

KeychainRoom.main(Array(CommandLine.arguments.dropFirst()))
