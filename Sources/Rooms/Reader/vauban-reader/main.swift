// Asks fprintd for fingers on behalf of the enclave. Everything it does is in the module, where tests reach it.

import FingerprintReader

ReaderProgram.main()
