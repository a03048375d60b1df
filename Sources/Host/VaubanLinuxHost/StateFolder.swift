// The steps that a state write is made of, one system call each. They stand behind a protocol so that the algorithm which
// runs over Linux runs, unchanged, over a disk that a test cuts off at every step.

/// A folder of state files, held open.
package protocol StateFolder: Sendable {
    /// For sentences to the user only; nothing is opened by it.
    var path: String { get }
    /// The file, to be read; nil when it is absent. Throws when it is no plain file of this user.
    func file(_ name: String) throws(SystemError) -> (any StateFile)?
    /// A new, empty file. A name that is taken is refused (EEXIST), so that nothing is ever cut short in place.
    func create(_ name: String) throws(SystemError) -> any StateFile
    /// Gives the file another name, in place of what had that name.
    func rename(_ name: String, to new: String) throws(SystemError)
    /// Returns when every change of a name in this folder survives a power cut.
    func sync() throws(SystemError)
    /// Removes the file if it can.
    func remove(_ name: String)
    func names() throws(SystemError) -> [String]
    /// What cannot be looked at counts as there: only what is surely absent may be made anew.
    func contains(_ name: String) -> Bool
    func subfolder(_ name: String, creating: Bool) throws(PrivateFolder.Fault) -> Self
}

/// An open file of such a folder. Offsets are in bytes from its start.
package protocol StateFile: Sendable {
    /// How many bytes were read; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int
    /// How many bytes were taken, at least one unless none were given; fewer than given where the disk becomes full.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int
    /// Returns when the content survives a power cut. The name may not.
    func sync() throws(SystemError)
}
