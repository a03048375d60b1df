/// The one place that says which version this is; scripts/version reads it from here.
enum Version {
    static let text = "0.1.0"
}
