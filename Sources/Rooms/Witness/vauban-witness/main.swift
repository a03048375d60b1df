// The one process that looks at others. Everything it does is in the module, where tests reach it.

import Witness

WitnessProgram.main()
