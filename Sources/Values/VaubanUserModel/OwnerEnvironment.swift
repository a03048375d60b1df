package import VaubanDER

/// The methods with which the user of the device could authenticate now (Specs/environment.md). Reading it decrypts nothing.
///
/// `OwnerEnvironment ::= SEQUENCE { passcodeIsSet BOOLEAN, passcodeIsUsable BOOLEAN, readerIsPresent BOOLEAN,
///   fingersAreEnrolled BOOLEAN, fingersAreLockedOut BOOLEAN, fingersAreUsable BOOLEAN,
///   domainState [0] OCTET STRING (SIZE (32)) OPTIONAL }`
package struct OwnerEnvironment: Hashable, Sendable {
    package var passcodeIsSet: Bool
    package var passcodeIsUsable: Bool
    package var readerIsPresent: Bool
    package var fingersAreEnrolled: Bool
    /// Enrolled, but rejected until the passcode is entered.
    package var fingersAreLockedOut: Bool
    package var fingersAreUsable: Bool
    /// Identifies the enrolled fingers to one application only; nil if none is enrolled.
    package var domainState: [UInt8]?

    /// The environment when nothing is available or known.
    package static let none = OwnerEnvironment(
        passcodeIsSet: false, passcodeIsUsable: false, readerIsPresent: false, fingersAreEnrolled: false, fingersAreLockedOut: false,
        fingersAreUsable: false)

    package init(
        passcodeIsSet: Bool, passcodeIsUsable: Bool, readerIsPresent: Bool, fingersAreEnrolled: Bool, fingersAreLockedOut: Bool,
        fingersAreUsable: Bool, domainState: [UInt8]? = nil
    ) {
        self.passcodeIsSet = passcodeIsSet
        self.passcodeIsUsable = passcodeIsUsable
        self.readerIsPresent = readerIsPresent
        self.fingersAreEnrolled = fingersAreEnrolled
        self.fingersAreLockedOut = fingersAreLockedOut
        self.fingersAreUsable = fingersAreUsable
        self.domainState = domainState
    }
}

extension OwnerEnvironment: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        self.init(
            passcodeIsSet: try fields.boolean("passcode is set"), passcodeIsUsable: try fields.boolean("passcode is usable"),
            readerIsPresent: try fields.boolean("reader is there"), fingersAreEnrolled: try fields.boolean("fingers are enrolled"),
            fingersAreLockedOut: try fields.boolean("fingers are locked out"), fingersAreUsable: try fields.boolean("fingers are usable"),
            domainState: try fields.optionalOctets(0, "domain state", in: 32...32))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            for fact in [passcodeIsSet, passcodeIsUsable, readerIsPresent, fingersAreEnrolled, fingersAreLockedOut, fingersAreUsable] {
                try fields.boolean(fact)
            }
            try fields.optionalOctets(0, domainState)
        }
    }
}
