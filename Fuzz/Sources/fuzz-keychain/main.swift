import CFuzzer
import KeychainFuzzing

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
_ = LLVMFuzzerRunDriver(&argc, &argv) { data, size in
    do { try KeychainDoorFuzzing.run(Array(UnsafeBufferPointer(start: data, count: size))) } catch { fatalError("\(error)") }
    return 0
}
