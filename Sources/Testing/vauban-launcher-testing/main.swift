// The launcher with the enclave that has a cheap key derivation, for tests; never installed.

import Launcher

LauncherProgram.main(enclave: "enclaved-testing")
