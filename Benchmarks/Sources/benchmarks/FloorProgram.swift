import Foundation

/// The C program of Benchmarks/floor, which does the work of a get. It answers commands, one on each line, as long as its input is open.
final class FloorProgram {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// - Parameter folder: The folder of its database, on the file system of the keychain.
    init(path: String, folder: String, items: Int) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [folder, "\(items)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Returns the median time of a get, or of a signature, in microseconds.
    func median(_ work: Work, _ count: Int) throws -> Double { try answer("\(work.rawValue) \(count)") }

    /// Returns the gets or signatures per second by this many client processes.
    func rate(_ work: Work, clients: Int, seconds: Double) throws -> Double {
        try answer("\(work.rawValue)s \(clients) \(seconds)")
    }

    enum Work: String { case get, sign }

    /// Sends a line and returns the first number of the program's answer.
    private func answer(_ line: String) throws -> Double {
        input.fileHandleForWriting.write(Data((line + "\n").utf8))
        var text: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") { text.append(byte) }
        guard let number = String(decoding: text, as: UTF8.self).split(separator: " ").first.flatMap({ Double($0) }) else {
            throw Failure("the C program did not answer: \(line)")
        }
        return number
    }
}
