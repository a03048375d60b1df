package import VaubanDER
internal import VaubanSyncModel

/// An item that another device added, as it is in that device's file, without the rest of its secret half.
package struct SyncedItem: Hashable, Sendable {
    /// The most items in one request.
    package static let countMax = 100

    package let item: BackupItem
    package let epoch: Int64
    package let name: [UInt8]
    /// The bytes of the rest.
    package let restBytes: Int

    package init(item: BackupItem, epoch: Int64, name: [UInt8], restBytes: Int) {
        self.item = item
        self.epoch = epoch
        self.name = name
        self.restBytes = restBytes
    }

    /// About how many bytes it takes in a request.
    package var headerBytes: Int { item.attributes.count + item.binding.count + item.wrapped.count + item.head.count + 64 }
}

/// `SyncedItem ::= SEQUENCE { item BackupItem, epoch INTEGER, name OCTET STRING, restBytes INTEGER }`
extension SyncedItem: DERReadable, DERWritable {
    package init(from fields: inout DERFields) throws {
        item = try fields.value("item")
        epoch = try fields.integer("epoch", in: 1...Int64(CircleRequest.epochsMax))
        name = try fields.octets("name", in: SyncRequest.nameBytes...SyncRequest.nameBytes)
        restBytes = Int(try fields.integer("rest bytes", in: 0...1 << 20))
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.value(item)
            try fields.integer(epoch)
            try fields.octets(name)
            try fields.integer(Int64(restBytes))
        }
    }
}
