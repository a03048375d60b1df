import ArgumentParser
import Glibc
import VaubanPlainText
import VaubanRefusal

struct Sdk: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sdk",
        abstract: "Build packages written for Apple platforms without changes.",
        discussion: """
            Provides Security, LocalAuthentication, CryptoKit and VaubanKeychain as modules and one library. With these flags, a \
            package finds them without a change to its manifest. They work with the compiler that built them.

            Example:
              swift build $(vauban sdk flags)
            """,
        subcommands: [SdkFlags.self])
}

struct SdkFlags: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flags", abstract: "Print the options for swift build, swift test and swift run.")

    func run() throws {
        let folder = try Self.folder()
        let compiler = ["-I", folder, "-Xfrontend", "-import-module", "-Xfrontend", "Security"]
        let linker = ["-L\(folder)", "-lVaubanApple", "-rpath=\(folder)"]
        print((compiler.flatMap { ["-Xswiftc", $0] } + linker.flatMap { ["-Xlinker", $0] }).joined(separator: " "))
    }

    /// Returns the folder of the modules: beside the installed program, or in a checkout the output of `scripts/build-sdk`.
    private static func folder() throws -> String {
        guard let real = realpath("/proc/self/exe", nil) else {
            throw Refusal(.unavailable, "This program cannot find its own file; check that /proc is mounted")
        }
        defer { free(real) }
        let own = PathBytes.parts(of: String(cString: real))?.folder ?? ""
        // The build folder is .build/TRIPLE/CONFIGURATION.
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
                No modules in \(SafeText.visible(places[0])); in a checkout, run scripts/build-sdk; to install them: make programs, \
                then make install. A release has no modules; remove it before you install from a checkout (the keychains stay)
                """
            )
        }
        guard !folder.contains(where: \.isWhitespace) else {
            throw Refusal(
                .unavailable,
                "The path \(SafeText.visible(folder)) contains a space, where a shell would split these flags; move the checkout")
        }
        return folder
    }
}
