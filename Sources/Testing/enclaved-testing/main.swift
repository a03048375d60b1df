// The room of enclaved with a cheap KDF, so that tests can enter many passcodes; with a clock that a file moves, and a
// record of its steps, where arguments ask for them. It is never installed.

import Enclave
import EnclaveRoom
import Foundation

let options = TestingOptions(CommandLine.arguments)
EnclaveProgram.main(
    options.arguments, cost: StretchCost(log2Rounds: 10, blockSizeMin: 8), clock: FileClock(path: options.clock), trace: options.trace)
