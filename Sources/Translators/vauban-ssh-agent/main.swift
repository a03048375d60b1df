// Keys of the keychain for SSH. Everything it does is in the module, where tests reach it.

import SSHAgent

SSHAgentProgram.main()
