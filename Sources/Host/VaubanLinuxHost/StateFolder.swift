// The steps of a state write, one system call each. They are a protocol, so that tests can run the same algorithm over a simulated disk
// that fails at any step.

/// A folder of state files, held open.
package protocol StateFolder: Sendable {
    /// The path, for messages to the user only. Nothing is opened by it.
    var path: String { get }
    /// Opens the file for reading; nil if it does not exist. Throws if it is not a plain file of this user.
    func file(_ name: String) throws(SystemError) -> (any StateFile)?
    /// Creates an empty file. Throws EEXIST if the name is taken, so that no file is ever truncated in place.
    func create(_ name: String) throws(SystemError) -> any StateFile
    /// Renames the file, replacing any file of that name.
    func rename(_ name: String, to new: String) throws(SystemError)
    /// Returns when every change of a name in this folder would survive a power cut.
    func sync() throws(SystemError)
    /// Removes the file if possible.
    func remove(_ name: String)
    func names() throws(SystemError) -> [String]
    /// Returns whether a file exists. A file that cannot be examined counts as existing, since callers create what is absent.
    func contains(_ name: String) -> Bool
    func subfolder(_ name: String, creating: Bool) throws(PrivateFolder.OpeningError) -> Self
}

/// An open file of such a folder. Offsets are in bytes from its start.
package protocol StateFile: Sendable {
    /// Reads bytes at an offset. Returns their number; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int
    /// Writes bytes at an offset. Returns their number: at least one unless none were given, and fewer than given if the disk becomes full.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int
    /// Returns when the content would survive a power cut. The name may not.
    func sync() throws(SystemError)
}
