// swift-tools-version: 6.2
// What an application's manifest looks like: one dependency, used on Linux only, and sources that import Apple's names.
// With a release of Vauban the first line of the dependencies is `.package(url: "https://…/vauban.git", from: "…")`.
import PackageDescription

let vauban = Target.Dependency.product(name: "VaubanApple", package: "vauban", condition: .when(platforms: [.linux]))

let package = Package(
    name: "examples",
    dependencies: [.package(name: "vauban", path: "..")],
    targets: [
        // An application names its modules as it likes; these two are also names of rooms inside Vauban.
        .target(name: "Keychain", dependencies: [vauban]),
        .target(name: "Enclave", dependencies: [vauban]),
        .executableTarget(name: "KeychainSample", dependencies: ["Keychain", vauban]),
        .executableTarget(name: "AuthenticationSample", dependencies: ["Enclave", "Keychain", vauban]),
        .executableTarget(name: "OccasionsSample", dependencies: [vauban]),
        .executableTarget(name: "ApplicationPasswordSample", dependencies: [vauban]),
        .executableTarget(name: "RightsSample", dependencies: [vauban]),
        // Two ends of a second factor, and what goes between them.
        .target(name: "Approval"),
        .executableTarget(name: "SecondFactor", dependencies: ["Approval", vauban]),
        .executableTarget(name: "RelyingParty", dependencies: ["Approval", vauban]),
        // This one speaks to VaubanKeychain, which is the same on every system.
        .executableTarget(name: "TokenKeeper", dependencies: [.product(name: "VaubanKeychain", package: "vauban")]),
    ]
)
