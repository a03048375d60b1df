import ArgumentParser
import Glibc
import VaubanPlainText
import VaubanRefusal

struct Sdk: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Builds packages that were written for Apple's systems, as they are.",
        discussion: """
            Security, LocalAuthentication, CryptoKit and VaubanKeychain come as modules and one library. A package whose manifest \
            does not know of them finds them by these flags, also where it imports only Foundation, as on Apple's systems. They \
            are for the compiler that built them.

            Example:
              swift build $(vauban sdk flags)
            """,
        subcommands: [SdkFlags.self])
}

struct SdkFlags: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flags", abstract: "Prints the options for swift build, swift test and swift run.")

    func run() throws {
        let folder = try Self.folder()
        let compiler = ["-I", folder, "-Xfrontend", "-import-module", "-Xfrontend", "Security"]
        let linker = ["-L\(folder)", "-lVaubanApple", "-rpath=\(folder)"]
        print((compiler.flatMap { ["-Xswiftc", $0] } + linker.flatMap { ["-Xlinker", $0] }).joined(separator: " "))
    }

    /// Beside this program's own file where it was installed; in a checkout, where `scripts/build-sdk` puts them.
    private static func folder() throws -> String {
        guard let real = realpath("/proc/self/exe", nil) else {
            throw Refusal(.unavailable, "this program cannot find its own file; is /proc mounted?")
        }
        defer { free(real) }
        let own = PathBytes.parts(of: String(cString: real))?.folder ?? ""
        // A build is .build/TRIPLE/CONFIGURATION.
        let build = PathBytes.parts(of: own).flatMap { PathBytes.parts(of: $0.folder)?.folder }
        let places = [own, build].compactMap { $0.map { "\($0)/sdk" } }
        guard
            let folder = places.first(where: {
                access("\($0)/libVaubanApple.so", R_OK) == 0 && access("\($0)/Security.swiftinterface", R_OK) == 0
            })
        else {
            throw Refusal(
                .unavailable,
                """
                there are no modules in \(SafeText.visible(places[0])); in a checkout run scripts/build-sdk; to install them: make \
                programs, make install
                """
            )
        }
        guard !folder.contains(where: \.isWhitespace) else {
            throw Refusal(.unavailable, "\(SafeText.visible(folder)) has a space in it, and a shell would take these flags apart there")
        }
        return folder
    }
}
