import Enclave
import EnclaveRoom
import Foundation

EnclaveProgram.main(CommandLine.arguments, EnclaveOptions(cost: .shipped))
