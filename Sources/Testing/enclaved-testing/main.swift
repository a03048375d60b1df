// The room of enclaved with a cheap KDF, so that tests can enter many passcodes. It is never installed.

import Enclave
import EnclaveRoom
import Foundation

EnclaveProgram.main(CommandLine.arguments, stretcher: PasscodeStretcher(log2Rounds: 10, blockSize: 8))
