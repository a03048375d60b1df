// The room that holds the queue for the user's attention. Everything it does is in the module, where tests reach it.

import Authentication

AuthenticationProgram.main()
