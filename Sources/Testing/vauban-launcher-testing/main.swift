// The launcher with the enclave that has a cheap key derivation, and a keychaind whose clock a test can move by the file
// `clock` in the service's folder; never installed.

import Launcher

LauncherProgram.main(enclave: "enclaved-testing", keychain: "keychaind-testing", clock: "clock")
