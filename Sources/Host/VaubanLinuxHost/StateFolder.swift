// The steps of a state write, one system call each. A protocol, so that the algorithm for Linux runs unchanged over a simulated disk that a
// test cuts off at every step.

/// A folder of state files, held open.
package protocol StateFolder: Sendable {
    /// For messages to the user only; nothing is opened by it.
    var path: String { get }
    /// Opens the file for reading; nil if it does not exist. Throws if it is not a plain file of this user.
    func file(_ name: String) throws(SystemError) -> (any StateFile)?
    /// Creates an empty file. Throws EEXIST if the name is taken, so that nothing is ever truncated in place.
    func create(_ name: String) throws(SystemError) -> any StateFile
    /// Renames the file, replacing any file of that name.
    func rename(_ name: String, to new: String) throws(SystemError)
    /// Returns when every change of a name in this folder survives a power cut.
    func sync() throws(SystemError)
    /// Removes the file if possible.
    func remove(_ name: String)
    func names() throws(SystemError) -> [String]
    /// Returns whether a file exists. One that cannot be examined counts as existing: only what is surely absent may be created.
    func contains(_ name: String) -> Bool
    func subfolder(_ name: String, creating: Bool) throws(PrivateFolder.OpeningError) -> Self
}

/// An open file of such a folder. Offsets are in bytes from its start.
package protocol StateFile: Sendable {
    /// Returns the number of bytes read; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int
    /// Returns the number of bytes written, at least one unless none were given; fewer than given if the disk becomes full.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int
    /// Returns when the content survives a power cut. The name may not.
    func sync() throws(SystemError)
}
