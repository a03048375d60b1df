import Crypto
import VaubanAccessPolicy
import VaubanDER
import VaubanKeyWire
import VaubanKeychainModel

/// The item that represents a private key of the enclave among the user's own items.
enum EnclaveKeyAttributes {
    /// Returns the attributes that Apple's `SecItem` gives such a key, with a tag for the key's purpose.
    static func of(_ key: EnclaveKey, named name: String, tag: [UInt8]) throws -> ItemAttributes {
        var values: [AttributeName: AttributeValue] = [
            .label: .text(name), .applicationTag: .data(tag), .accessGroup: .text(AccessGroup.commandLine),
            .tokenID: .text(EnclaveToken.identifier), .accessControl: .data(try key.control.encoded()),
            .applicationLabel: .data(Array(Insecure.SHA1.hash(data: key.publicKey))), .type: .number(73), .keyClass: .number(1),
            .keySizeInBits: .number(256), .effectiveKeySize: .number(256),
        ]
        for name in [
            AttributeName.isPermanent, .isPrivate, .isSensitive, .wasAlwaysSensitive, .wasNeverExtractable, .canDecrypt, .canDerive,
            .canSign,
        ] {
            values[name] = .number(1)
        }
        for name in [
            AttributeName.isModifiable, .isExtractable, .canEncrypt, .canVerify, .canSignRecover, .canVerifyRecover, .canWrap, .canUnwrap,
        ] {
            values[name] = .number(0)
        }
        return ItemAttributes(values)
    }
}
