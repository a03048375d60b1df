/// The constants that the browser's host and `vauban enable browser` share (Specs/browser.md).
package enum BrowserSetup {
    /// The name of vauban-browser-host among the browser's native messaging hosts.
    package static let hostName = "vauban.browser"

    /// The extension's identifier in Chromium, which follows from the key in its manifest.
    package static let chromiumExtension = "bhkgigkiocbaplkakpmimehfidphkhcn"
    /// The extension's identifier in Firefox, as its manifest names it.
    package static let firefoxExtension = "browser@vauban"
    /// The form in which Chromium names the extension in manifests and to its host.
    package static let chromiumOrigin = "chrome-extension://\(chromiumExtension)/"

    /// The path of the public-suffix list in Debian's package `publicsuffix`.
    package static let suffixesPath = "/usr/share/publicsuffix/public_suffix_list.dat"
}
