/// Why this process has no service, or cannot be part of one. The installation of this machine is to blame, or whoever started the program.
package struct ServiceError: Error, CustomStringConvertible, Sendable, Hashable {
    package let description: String

    package init(_ description: String) { self.description = description }
}
