import NIOCore

/// The limits of the fetcher, in one place.
package enum FetcherLimits {
    /// The time for both paths of one site, from the name look-up to the last byte: less than keychaind waits (`KeychainLimits.siteTime`),
    /// since closing a connection takes time too.
    static let siteTime = Duration.seconds(6)
    static let siteTimeAmount = TimeAmount.seconds(6)
    /// How long a list is valid, and how long a failure is repeated without another query to the site.
    package static let listSeconds: UInt64 = 86_400
    package static let failureSeconds: UInt64 = 30
    /// Sites whose lists are kept.
    package static let sitesMax = 256
    /// Sites that are queried at the same time.
    static let fetchesMax = 16
    /// Hosts that are looked up at the same time, including look-ups whose query no longer waits. Each look-up has a thread.
    static let lookUpsMax = 32
    static let connectionsMax = 64
    /// Addresses of one site that are tried, and refused ones that the log names.
    static let addressesMax = 16
    /// The size of root's list of networks.
    static let networksBytesMax = 65_536
    /// Lines of that list that the log reports as unreadable.
    static let linesReportedMax = 16
}
