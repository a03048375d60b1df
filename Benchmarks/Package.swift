// swift-tools-version: 6.2
// Measures Vauban as an application sees it, beside the least that the machine needs for the same.
import PackageDescription

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "vauban", path: "..")],
    targets: [
        // The database library of the system, for the bare transaction.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "benchmarks",
            dependencies: ["CSQLite", .product(name: "VaubanApple", package: "vauban", condition: .when(platforms: [.linux]))]),
    ]
)
