// The one process that inspects others. Its code is in a module, so that tests reach it.

import Witness

WitnessProgram.main()
