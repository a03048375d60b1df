// authd, the room that holds the queue of prompts. Its logic is in the module, where tests can use it.

import Authentication

AuthenticationProgram.main()
