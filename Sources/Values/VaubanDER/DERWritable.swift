/// A value that has exactly one DER form.
package protocol DERWritable {
    func write(into der: inout DERWriter) throws
}

/// A value that is decoded from DER strictly: every byte is consumed, and there is no second encoding.
package protocol DERReadable {
    init(from fields: inout DERFields) throws
}

extension DERWritable {
    /// Returns the value's bytes. Encoding fails only for a value that its own type should have refused.
    @inlinable package func encoded() throws -> [UInt8] {
        var writer = DERWriter()
        try write(into: &writer)
        return writer.bytes
    }
}
