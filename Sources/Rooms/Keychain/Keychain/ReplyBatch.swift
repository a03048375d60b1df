internal import VaubanDER
internal import VaubanKeychainModel
internal import VaubanKeychainWire
internal import VaubanSecretBytes

/// Collects found items and sends them in order: several items in a message, each value in a separate message.
final class ReplyBatch {
    private let sink: any ReplySink
    private let returns: ReturnKinds
    private var items: [FoundItem] = []
    private var bytes = 0
    /// Whether the search is for one match, which is then sent together with the end. If several are wanted, no match waits for the next,
    /// which may need a prompt.
    private let isForOne: Bool
    private var last: KeychainReply?
    private var lastValue: SecretBytes?

    init(_ sink: any ReplySink, returning returns: ReturnKinds, isForOne: Bool = false) {
        self.sink = sink
        self.returns = returns
        self.isForOne = isForOne
    }

    /// Adds an item without its value. A locked item has no record, so only its reference is returned. If nothing was requested, only the
    /// end is sent.
    func add(_ record: ItemRecord?, of item: [UInt8], certificate: [UInt8]? = nil) throws {
        guard !returns.isEmpty else { return }
        try enqueue(found(record, of: item, certificate, hasData: false))
    }

    /// Adds an item with its value, if it was requested and exists.
    func add(_ record: ItemRecord, of item: [UInt8], certificate: [UInt8]? = nil, value: borrowing PaddedValue) throws {
        guard returns.contains(.data), value.hasValue else { return try add(record, of: item, certificate: certificate) }
        try flush()
        let reply = KeychainReply.items([found(record, of: item, certificate, hasData: true)])
        guard isForOne, last == nil else { return try sink.send(reply, value: value.value()) }
        last = reply
        lastValue = value.value()
    }

    func finish() throws {
        if let last { return try sink.finish(last, value: lastValue) }
        guard !items.isEmpty else { return try sink.send(.done) }
        try sink.finish(.items(items), value: nil)
    }

    private func found(_ record: ItemRecord?, of item: [UInt8], _ certificate: [UInt8]?, hasData: Bool) -> FoundItem {
        FoundItem(
            record: returns.contains(.attributes) ? record : nil, hasData: hasData, reference: returns.contains(.reference) ? item : nil,
            certificate: certificate)
    }

    private func enqueue(_ item: FoundItem) throws {
        let count = item.encodedBytesMax
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
