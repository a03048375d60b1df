// Serves the keychain's SSH keys. The implementation is in a module, so that tests can use it.

import SSHAgent

SSHAgentProgram.main()
