import Enclave
import EnclaveRoom

/// enclaved with a cheap key derivation, so that tests can enter many passcodes.
///
/// `--without FEATURE,…` behaves as on a machine without these protections, `--clock FILE` moves the clocks with a file, `--trace FILE`
/// records the steps of the evidence protocol. It accepts items for the current enrollment in user mode too, unless `--finger-sets by-mode`
/// makes it behave as the shipped program, and `--cost shipped` makes an attempt cost what it costs there.
enum EnclaveForTests {
    static func main(_ arguments: RoomArguments) -> Never {
        var arguments = arguments
        var options = EnclaveOptions(cost: StretchCost(log2Rounds: 10, blockSizeMin: 8))
        options.without = arguments.takeMissingFeatures()
        if let path = arguments.take("--clock") {
            guard let clock = FileClock(path: path) else { fail("\(path) cannot be read") }
            options.clock = clock
        }
        if let path = arguments.take("--trace") {
            guard let recorder = TraceRecorder(path: path) else { fail("\(path) cannot be written") }
            options.trace = { recorder.record($0) }
        }
        if let cost = arguments.take("--cost") {
            guard cost == "shipped" else { fail("\(cost) is not a cost") }
            options.cost = .shipped
        }
        options.distinguishesFingerSets = arguments.take("--finger-sets") == "by-mode" ? nil : true
        EnclaveProgram.main(["rooms-testing enclaved"] + arguments.words, options)
    }
}
