// The fingerprint reader of the enclave, through fprintd. The code is in a module, so that tests can use it.

import FingerprintReader

ReaderProgram.main()
