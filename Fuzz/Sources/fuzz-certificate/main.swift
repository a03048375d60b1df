import CFuzzer
import CertificateFuzzing

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
_ = LLVMFuzzerRunDriver(&argc, &argv) { data, size in
    do { try CertificateFuzzing.run(Array(UnsafeBufferPointer(start: data, count: size))) } catch { fatalError("\(error)") }
    return 0
}
