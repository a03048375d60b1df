package import FuzzFinding
import VaubanSecurity

/// A fuzzer that decodes untrusted bytes as a certificate. Decoding either fails or yields a certificate that returns the same bytes. It
/// uses only Apple's public names of the module that it tests.
package enum CertificateFuzzing {
    /// Returns whether the input is a valid certificate.
    @discardableResult package static func run(_ input: [UInt8]) throws(Finding) -> Bool {
        guard let certificate = SecCertificateCreateWithData(nil, NSData(data: Data(input))) else { return false }
        try require(SecCertificateCopyData(certificate) as Data == Data(input), "it has other bytes than it was made of")
        var addresses: CFArray?
        try require(
            SecCertificateCopyEmailAddresses(certificate, &addresses) == errSecSuccess && addresses != nil,
            "it has no addresses, not even none")
        var name: CFString?
        try require(
            (SecCertificateCopyCommonName(certificate, &name) == errSecSuccess) == (name != nil), "its name and the status disagree")
        _ = SecCertificateCopySubjectSummary(certificate)
        try require(SecCertificateCopySerialNumberData(certificate, nil) != nil, "it has no serial number")
        try require(
            SecCertificateCopyNotValidBeforeDate(certificate) != nil && SecCertificateCopyNotValidAfterDate(certificate) != nil,
            "it has no dates")
        try require(SecCertificateCopyNormalizedIssuerSequence(certificate) != nil, "it has no issuer")
        try require(SecCertificateCopyNormalizedSubjectSequence(certificate) != nil, "it has no subject")
        try require(SecCertificateCreateWithData(nil, SecCertificateCopyData(certificate)) == certificate, "it is not equal to itself")
        return true
    }
}
