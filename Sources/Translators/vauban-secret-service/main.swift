// The Secret Service over the user's keychain. Everything it does is in the module, where tests reach it.

import SecretService

SecretServiceProgram.main()
