import Glibc
import VaubanJSON
import VaubanRefusal
import VaubanSecretBytes

/// The input of a kubectl credential plugin in the variable KUBERNETES_EXEC_INFO
/// (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/). It contains no secret.
struct ExecInfo {
    /// The requested version, which the reply repeats.
    let version: String
    /// The cluster's address, if the configuration has `provideClusterInfo: true`.
    let server: String?

    private static let variable = "KUBERNETES_EXEC_INFO"
    private static let group = "client.authentication.k8s.io"
    private static let versions = ["v1", "v1beta1"].map { "\(group)/\($0)" }
    private static let bytesMax = 1 << 20

    /// Parses the variable. Without it, for example in a shell, returns the newest version. Ignores whether standard input is the user's
    /// (`spec.interactive`), since prompts never use it.
    static func current() throws(Refusal) -> ExecInfo {
        guard let value = getenv(variable) else { return ExecInfo(version: versions[0], server: nil) }
        let count = strlen(value)
        guard count <= bytesMax else { throw Refusal(.dataTooLarge, "\(variable) is larger than \(bytesMax) bytes") }
        return try ExecInfo(UnsafeRawBufferPointer(start: value, count: count))
    }

    private init(version: String, server: String?) {
        (self.version, self.server) = (version, server)
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(Refusal) {
        guard let object = JSONObject(document: bytes) else {
            throw Refusal(.badParameter, "\(Self.variable) is not one JSON object")
        }
        guard object.text("kind") == "ExecCredential" else { throw Refusal(.badParameter, "\(Self.variable) is not an ExecCredential") }
        let version = object.text("apiVersion") ?? ""
        guard Self.versions.contains(version) else {
            throw Refusal(
                .badParameter,
                "kubectl asks for \(SafeText.line(version, max: 80)); write apiVersion: \(Self.versions[0]) into the user's exec section")
        }
        self.init(version: version, server: object.object("spec")?.object("cluster")?.text("server"))
    }
}
