// Starts the rooms in user mode. Its code is in a module, so that tests reach it.

import Launcher

LauncherProgram.main()
