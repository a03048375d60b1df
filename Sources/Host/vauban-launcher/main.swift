// Starts the rooms in user mode. Everything it does is in the module, where tests reach it.

import Launcher

LauncherProgram.main(enclave: ["enclaved"])
