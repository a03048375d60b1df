import Glibc
internal import CVaubanLinux

/// The address of a socket and the uid that must serve it.
package struct ServerAddress: Sendable, Hashable {
    package let folder: String
    package let socket: String
    package let serverUID: UInt32

    package init(folder: String, socket: String, serverUID: UInt32) {
        self.folder = folder
        self.socket = socket
        self.serverUID = serverUID
    }

    /// Connects and proves this process's identity. Opens the folder first, so that the length of its path does not matter, and only as a
    /// location, which requires no right to read it.
    /// - Parameter time: How long the server's first message may take, in nanoseconds, and most later ones.
    package func connect(
        role: Int64 = 0, within time: UInt64 = ConnectionLimits.machineTime
    ) throws(HandshakeError) -> Channel {
        let directory: Descriptor
        do throws(SystemError) { directory = try Descriptor.place(folder) } catch { throw .system(error) }
        let socket: Int32 = vauban_connect_in(directory.number, socket)
        guard socket >= 0 else { throw .system(SystemError("connect to \(folder)/\(self.socket)", code: -socket)) }
        return try Handshake.connect(Descriptor(socket), serverUID: serverUID, role: role, within: time)
    }
}
