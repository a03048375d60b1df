// The room that stores records. Its logic is in the module in Sources/Rooms/Keychain/Keychain, where tests can use it.

import Keychain

KeychainRoom.main(Array(CommandLine.arguments.dropFirst()))
