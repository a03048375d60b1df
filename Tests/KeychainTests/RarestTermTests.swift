import KeychainStore
import Testing

/// Which rows a search for several of the Secret Service's attributes reads (Specs/keychain-database.md).
@Suite struct RarestTermTests {
    private static let common = [UInt8](repeating: 0xAA, count: 16)
    private static let rare = [UInt8](repeating: 0xBB, count: 16)

    private static func entry(_ blind: [UInt8]) -> [UInt8] { Array("ssat".utf8) + blind.prefix(BlindList.blindBytes) }

    /// The search for rows with both terms, looked up by `lookup` or by the rarest of `lookups`.
    private func search(lookup: [UInt8]? = nil, lookups: [[UInt8]] = []) -> RowSelection {
        let filter = Self.entry(Self.common) + Self.entry(Self.rare)
        var selection = RowSelection(kind: 1, protection: nil, lookup: lookup, filter: filter, usesDeviceIndex: false)
        selection.lookups = lookups
        return selection
    }

    /// Adds rows that are found by the rare term alone, but have both, and then rows that have and are found by the common term alone. So a
    /// search for both terms that reads the rows of the common one finds nothing.
    private func add(to room: Room, common: Int, rare: Int) throws {
        _ = try room.database
        try room.sql(
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(common + rare))
            INSERT INTO item(
                id, item, kind, protection, generation, primary_blind, blinds, metadata_binding, metadata, secret_binding, wrapped_key,
                secret)
            SELECT n, randomblob(16), 1, 1, x'', randomblob(16),
                CASE WHEN n <= \(rare) THEN x'73736174AAAAAAAAAAAAAAAA73736174BBBBBBBBBBBBBBBB' ELSE x'73736174AAAAAAAAAAAAAAAA' END,
                x'', x'', x'', x'', x''
            FROM number;
            INSERT INTO lookup(blind, item)
            SELECT CASE WHEN id <= \(rare) THEN x'BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB' ELSE x'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' END, id
            FROM item
            """)
    }

    @Test(
        "A search for several attributes reads the rows of the rarest, in whatever order they are named, and however many rows it has",
        arguments: [(5000, 0), (5000, 1), (65, 64), (64, 63), (513, 512), (512, 511), (5000, 100), (5000, 4999)])
    func rarestTermIsRead(_ common: Int, _ rare: Int) throws {
        let room = try Room()
        try add(to: room, common: common, rare: rare)
        let database = try room.database
        for lookups in [[Self.common, Self.rare], [Self.rare, Self.common], [Self.common, Self.common, Self.rare]] {
            let selection = search(lookups: lookups)
            #expect(try database.narrowed(selection).lookup == Self.rare)
            #expect(try database.rows(of: selection, after: 0, count: .max, bytesMax: .max).count == rare)
            #expect(try database.handles(of: selection).count == rare)
        }
        // The control: by the common term, none of these rows is found.
        #expect(try database.handles(of: search(lookup: Self.common)).isEmpty)
        #expect(try database.handles(of: search(lookup: Self.rare)).count == rare)
    }

    @Test("A search for attributes that equally many rows have reads the rows of one of them", arguments: [1, 64, 512])
    func tiesEnd(_ count: Int) throws {
        let room = try Room()
        try add(to: room, common: count, rare: count)
        let database = try room.database
        #expect(try database.narrowed(search(lookups: [Self.common, Self.rare])).lookup == Self.common)
        #expect(try database.narrowed(search(lookups: [Self.rare, Self.common])).lookup == Self.rare)
    }

    @Test("A search by one attribute, by a pair or by a reference is not narrowed") func nothingIsCounted() throws {
        let room = try Room()
        let database = try room.database
        var byReference = search(lookups: [Self.common, Self.rare])
        byReference.item = Self.common
        let byPair = search(lookup: Self.rare, lookups: [Self.common, Self.rare])
        for selection in [search(lookups: [Self.rare]), byPair, search(), byReference] {
            #expect(try database.narrowed(selection) == selection)
        }
    }
}
