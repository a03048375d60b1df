/// The limits of etcd's replies, and of the time that they may take.
package enum EtcdLimits {
    package static let keysOfPage = 1000
    /// The most names in a section: as many as fit into one reply.
    package static let namesMax = 140_000
    static let keyBytesMax = 300
    /// How often to read a long file whose parts are incomplete.
    static let readsMax = 3
    /// The longest time for one request, at all nodes together, and for one operation.
    package static let requestSeconds = 30
    package static let operationSeconds = 120
    /// The longest time to connect to one node, TLS included.
    package static let connectSeconds = 3
    /// The pauses before all nodes are tried again.
    package static let pauseMillisecondsMin: Int32 = 300
    package static let pauseMillisecondsMax: Int32 = 2000

    /// The longest message of a watch: the most that etcd puts into one, as base64.
    static let watchBytesMax = 4 << 20
    /// The longest time until a watch is confirmed, and the longest silence before it is replaced, since a node that has disappeared is
    /// silent too.
    package static let watchSeconds = 10
    package static let watchSilenceSeconds = 120
    /// The pauses before the watch moves to another node.
    package static let watchPauseMillisecondsMin: Int32 = 20
    package static let watchPauseMillisecondsMax: Int32 = 10_000

    /// Returns the time for one request at one node: the remaining time, minus the time to connect to the nodes after it.
    package static func secondsOfNode(left: Int, nodesAfter: Int) -> Int { max(connectSeconds, left - nodesAfter * connectSeconds) }
}
