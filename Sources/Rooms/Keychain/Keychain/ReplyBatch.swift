internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanSecretBytes

/// The found items on their way out: several to a message, but one with a value alone, and all in their order.
final class ReplyBatch {
    private let sink: any ReplySink
    private var items: [FoundItem] = []
    private var bytes = 0
    /// The one match of a search for one, which is told together with the end. Of several none waits for the next, which may take a
    /// user's time.
    private let isForOne: Bool
    private var last: KeychainReply?
    private var lastValue: SecretBytes?

    init(_ sink: any ReplySink, isForOne: Bool = false) {
        self.sink = sink
        self.isForOne = isForOne
    }

    /// An item whose value was not asked for. Nothing asked means nothing sent but the end.
    func add(_ item: FoundRow, _ returns: ReturnKinds) throws {
        guard !returns.isEmpty else { return }
        try enqueue(item.found(returns, hasData: false))
    }

    /// An item with its value, if that was asked for and there is one.
    func add(_ item: FoundRow, _ value: borrowing PaddedValue, _ returns: ReturnKinds) throws {
        guard returns.contains(.data), value.hasValue else { return try add(item, returns) }
        try flush()
        let reply = KeychainReply.items([item.found(returns, hasData: true)])
        guard isForOne, last == nil else { return try sink.send(reply, value: value.value()) }
        last = reply
        lastValue = value.value()
    }

    func finish() throws {
        if let last { return try sink.finish(last, value: lastValue) }
        guard !items.isEmpty else { return try sink.send(.done) }
        try sink.finish(.items(items), value: nil)
    }

    private func enqueue(_ item: FoundItem) throws {
        let count = try item.encoded().count
        if items.count == KeychainReply.itemsMax || bytes + count > KeychainLimits.replyBytesMax { try flush() }
        items.append(item)
        bytes += count
    }

    private func flush() throws {
        guard !items.isEmpty else { return }
        try sink.send(.items(items))
        items = []
        bytes = 0
    }
}

/// What is told of a match, as far as it is asked for.
struct FoundRow {
    /// Nil of a closed item, of which only the reference is told.
    let record: ItemRecord?
    let item: [UInt8]
    /// Of an identity.
    var certificate: [UInt8]?

    func found(_ returns: ReturnKinds, hasData: Bool) -> FoundItem {
        FoundItem(
            record: returns.contains(.attributes) ? record : nil, hasData: hasData, reference: returns.contains(.reference) ? item : nil,
            certificate: certificate)
    }
}
