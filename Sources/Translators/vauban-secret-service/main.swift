// Serves the Secret Service for the user's keychain. The implementation is in a module, so that tests can use it.

import SecretService

SecretServiceProgram.main()
