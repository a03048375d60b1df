// Keys of the keychain for SSH. Its code is in a module, so that tests reach it.

import SSHAgent

SSHAgentProgram.main()
