// Tells the enclave when the machine sleeps. Everything it does is in the module, where tests reach it.

import Watcher

WatcherProgram.main()
