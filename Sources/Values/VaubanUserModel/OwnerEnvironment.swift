package import SwiftASN1
package import VaubanDER

/// What the owner of the device could answer with now (Specs/environment.md): a look, which opens nothing.
///
/// `OwnerEnvironment ::= SEQUENCE { passcodeIsSet BOOLEAN, passcodeIsUsable BOOLEAN, readerIsThere BOOLEAN,
///   fingersAreEnrolled BOOLEAN, fingersAreLockedOut BOOLEAN, fingersAreUsable BOOLEAN,
///   domainState [0] OCTET STRING (SIZE (32)) OPTIONAL }`
package struct OwnerEnvironment: Hashable, Sendable {
    package var passcodeIsSet: Bool
    package var passcodeIsUsable: Bool
    package var readerIsThere: Bool
    package var fingersAreEnrolled: Bool
    /// Enrolled, and worth nothing before the passcode comes.
    package var fingersAreLockedOut: Bool
    package var fingersAreUsable: Bool
    /// Stands for the enrolled fingers, towards one application alone; nil where none is enrolled.
    package var domainState: [UInt8]?

    /// Nothing is there, or nobody says what is.
    package static let none = OwnerEnvironment(
        passcodeIsSet: false, passcodeIsUsable: false, readerIsThere: false, fingersAreEnrolled: false, fingersAreLockedOut: false,
        fingersAreUsable: false)

    package init(
        passcodeIsSet: Bool, passcodeIsUsable: Bool, readerIsThere: Bool, fingersAreEnrolled: Bool, fingersAreLockedOut: Bool,
        fingersAreUsable: Bool, domainState: [UInt8]? = nil
    ) {
        self.passcodeIsSet = passcodeIsSet
        self.passcodeIsUsable = passcodeIsUsable
        self.readerIsThere = readerIsThere
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
            readerIsThere: try fields.boolean("reader is there"), fingersAreEnrolled: try fields.boolean("fingers are enrolled"),
            fingersAreLockedOut: try fields.boolean("fingers are locked out"), fingersAreUsable: try fields.boolean("fingers are usable"),
            domainState: try fields.optionalOctets(0, "domain state", in: 32...32))
    }

    package func write(into der: inout DER.Serializer) throws {
        try der.sequence { fields in
            for fact in [passcodeIsSet, passcodeIsUsable, readerIsThere, fingersAreEnrolled, fingersAreLockedOut, fingersAreUsable] {
                try fields.boolean(fact)
            }
            try fields.optionalOctets(0, domainState)
        }
    }
}
