import Enclave
import EnclaveRoom

EnclaveProgram.main(CommandLine.arguments, EnclaveOptions(cost: .shipped))
