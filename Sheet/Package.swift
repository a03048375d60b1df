// swift-tools-version: 6.2
// The sheet: what a person at a desktop is asked, drawn with GTK 4. A package of its own, so that nothing else needs GTK to build.
import PackageDescription

let house: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
    name: "sheet",
    dependencies: [.package(name: "vauban", path: "..")],
    targets: [
        // GTK, and beside it in C what Swift cannot say: casts, signals, functions with any number of arguments.
        .systemLibrary(name: "CGtk", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        // The window, and nothing that decides.
        .executableTarget(
            name: "vauban-sheet", dependencies: ["CGtk", .product(name: "VaubanPrompt", package: "vauban")], swiftSettings: house),
    ]
)
