// The reader with a bus and an fprintd of the test; never installed.

import FingerprintReader

ReaderProgram.main(usage: "vauban-reader-testing --enclave-folder DIR --enclave-uid N --state DIR --bus ADDRESS --bus-owner-uid N") {
    words in
    guard words.count == 4, words[0] == "--bus", words[2] == "--bus-owner-uid", let uid = UInt32(words[3]) else { return nil }
    return ReaderSettings(bus: words[1], daemonUID: uid)
}
