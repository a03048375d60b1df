// The watcher, which reports sleep and screen locks to the enclave. The code is in a module, so that tests can use it.

import Watcher

WatcherProgram.main()
