/// The only definition of the version; scripts/version reads it from here.
enum Version {
    static let text = "0.1.0"
}
