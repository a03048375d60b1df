// Tells the enclave when the machine sleeps. Its code is in a module, so that tests reach it.

import Watcher

WatcherProgram.main()
