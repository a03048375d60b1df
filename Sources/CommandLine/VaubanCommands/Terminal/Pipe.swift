internal import CVaubanLinux
import VaubanLinuxHost

/// A pipe that programs started by this process do not inherit by accident.
struct Pipe {
    let reading: Descriptor
    private(set) var writing: Descriptor?

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        try SystemError.checkNegated(vauban_pipe(&ends), "make a pipe")
        reading = Descriptor(ends[0])
        writing = Descriptor(ends[1])
    }

    /// Closes this process's writing end, so that the reader reaches the end of the file.
    mutating func endWriting() { writing = nil }
}
