// Fills and saves passwords for the browser's extension. The implementation is in a module, so that tests can use it.

import BrowserHost

BrowserHostProgram.main()
