import Foundation
import Security
import Testing

/// Certificates from another implementation: the `openssl` of this machine.
struct OpenSSL {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let folder: URL

    init() throws {
        guard Self.program != nil else { try Test.cancel("there is no openssl on this machine") }
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("openssl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: path("index"))
        let configuration = """
            [ca]
            default_ca = authority
            [authority]
            database = \(path("index").path)
            new_certs_dir = \(folder.path)
            rand_serial = yes
            unique_subject = no
            policy = anything
            default_md = sha256
            [anything]
            commonName = supplied
            """
        try Data(configuration.utf8).write(to: path("configuration"))
    }

    private static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first { FileManager.default.isExecutableFile(atPath: $0) }

    func path(_ name: String) -> URL { folder.appendingPathComponent(name) }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    @discardableResult func run(_ arguments: String...) throws -> Data { try run(arguments) }

    /// Writes `NAME.p12` with the key and the certificate of that name.
    func export(_ name: String, passphrase: String, options: [String]) throws {
        let key = options.contains("-nokeys") ? [] : ["-inkey", "\(name).key"]
        try run(["pkcs12", "-export", "-in", "\(name).pem", "-out", "\(name).p12", "-passout", "pass:\(passphrase)"] + key + options)
    }

    @discardableResult private func run(_ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.program))
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let (output, log) = (path("output"), path("log"))
        for file in [output, log] { try Data().write(to: file) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "openssl \(arguments.joined(separator: " ")): \(String(decoding: try Data(contentsOf: log), as: UTF8.self))")
        }
        return try Data(contentsOf: output)
    }

    /// Creates a key and a self-signed certificate, as `NAME.key` and `NAME.pem`. Without a subject, the name is its common name.
    func selfSigned(_ name: String, _ extensions: [String], key: String = "ec", subject: String? = nil) throws -> SecCertificate {
        let keyArguments = key == "ec" ? ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"] : [key]
        let more = extensions.flatMap { ["-addext", $0] }
        try Data("[req]\ndistinguished_name = name\n[name]\n".utf8).write(to: path("request"))
        try run(
            ["req", "-x509", "-config", "request", "-nodes", "-newkey"] + keyArguments + [
                "-keyout", "\(name).key", "-out", "\(name).pem", "-days", "3650",
            ]
                + ["-subj", subject ?? "/CN=\(name)"] + more)
        return try certificate(name)
    }

    /// Creates a key, and a certificate that the named authority signs.
    func issue(
        _ name: String, by authority: String, _ extensions: [String], key: String = "ec", digest: String = "sha256",
        from start: String = "20250101000000Z", to end: String = "20450101000000Z"
    ) throws -> SecCertificate {
        let keyArguments = key == "ec" ? ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"] : [key]
        try Data("[req]\ndistinguished_name = name\n[name]\n".utf8).write(to: path("request"))
        try run(
            ["req", "-new", "-config", "request", "-nodes", "-newkey"] + keyArguments + [
                "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)",
            ])
        try Data(("[v3]\nauthorityKeyIdentifier = keyid\n" + extensions.joined(separator: "\n") + "\n").utf8).write(to: path("extensions"))
        try run(
            "ca", "-batch", "-config", "configuration", "-cert", "\(authority).pem", "-keyfile", "\(authority).key", "-in", "\(name).csr",
            "-out", "\(name).pem",
            "-notext", "-md", digest, "-startdate", start, "-enddate", end, "-extfile", "extensions", "-extensions", "v3")
        return try certificate(name)
    }

    func certificate(_ name: String) throws -> SecCertificate {
        let der = try run("x509", "-in", "\(name).pem", "-outform", "DER")
        return try #require(SecCertificateCreateWithData(nil, NSData(data: der)))
    }
}
