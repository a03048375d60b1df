internal import CVaubanLinux
import VaubanLinuxHost

/// A pipe that programs started by this process do not inherit by accident.
struct Pipe {
    let reading: Descriptor
    private(set) var writing: Descriptor?

    init() throws(SystemError) {
        let ends = try Self.ends()
        (reading, writing) = (ends.reading, ends.writing)
    }

    /// Returns the two ends, each of which is closed when nothing refers to it.
    static func ends() throws(SystemError) -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        try SystemError.checkNegated(vauban_pipe(&ends), "make a pipe")
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    /// Closes this process's writing end, so that the reader reaches the end of the file.
    mutating func endWriting() { writing = nil }
}
