// The watcher with a bus and a login manager of the test; never installed.

import Watcher

WatcherProgram.main(usage: "vauban-watcher-testing --enclave-folder DIR --enclave-uid N --bus ADDRESS --bus-owner-uid N") { words, user in
    guard words.count == 4, words[0] == "--bus", words[2] == "--bus-owner-uid", let uid = UInt32(words[3]) else { return nil }
    return WatcherSettings(bus: words[1], managerUID: uid, onlyUser: user)
}
