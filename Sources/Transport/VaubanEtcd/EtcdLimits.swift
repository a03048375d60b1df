/// The limits of what etcd may answer, and how long it may take.
package enum EtcdLimits {
    package static let keysOfPage = 1000
    /// All names of a section: as many as fit into a reply.
    package static let namesMax = 140_000
    static let keyBytesMax = 300
    /// How often a long file is read whose parts are not all there.
    static let readsMax = 3
    /// The time for one request, at all nodes together, and for one operation.
    package static let requestSeconds = 30
    package static let operationSeconds = 120
    /// The time for connecting to one node, TLS included.
    package static let connectSeconds = 3
    /// The first pause before all nodes are asked again, which is doubled each time, and the longest.
    package static let pauseMillisecondsMin = 300
    package static let pauseMillisecondsMax = 2000

    /// The longest message of a watch: what etcd puts into one, as base64.
    static let watchBytesMax = 4 << 20
    /// The time until a watch is confirmed, and how long it may say nothing before it is made anew, since a node that is gone says nothing
    /// either.
    package static let watchSeconds = 10
    package static let watchSilenceSeconds = 120
    /// The pauses before another node is asked to watch.
    package static let watchPauseMillisecondsMin: Int32 = 20
    package static let watchPauseMillisecondsMax: Int32 = 10_000

    /// Returns the time for one request at one node: what is left, but for the time in which those after it are connected to.
    package static func secondsOfNode(left: Int, nodesAfter: Int) -> Int { max(connectSeconds, left - nodesAfter * connectSeconds) }
}
