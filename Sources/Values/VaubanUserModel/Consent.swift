package import VaubanDER
internal import VaubanPlainText

/// How long a consent lasts, or the one account of several that it is for, once.
package enum ConsentChoice: Hashable, Sendable {
    case once
    case untilLock
    case always
    /// One of the consent's accounts, counted from 0.
    case account(Int)

    package static let durations: [ConsentChoice] = [.once, .untilLock, .always]
    /// The number of the first account.
    private static let accountsFrom: Int64 = 16
}

/// 1 once, 2 until the lock, 3 always, 16 … 23 the accounts.
extension ConsentChoice: RawRepresentable {
    package init?(rawValue: Int64) {
        switch rawValue {
        case 1: self = .once
        case 2: self = .untilLock
        case 3: self = .always
        case Self.accountsFrom..<Self.accountsFrom + Int64(Consent.accountsMax): self = .account(Int(rawValue - Self.accountsFrom))
        default: return nil
        }
    }

    package var rawValue: Int64 {
        switch self {
        case .once: 1
        case .untilLock: 2
        case .always: 3
        case .account(let index): Self.accountsFrom + Int64(index)
        }
    }
}

/// A request for the user's consent to a program's access to another program's items. keychaind provides the description of the item; the
/// enclave names the caller, as in every prompt.
///
/// `Consent ::= SEQUENCE { purpose INTEGER, offered INTEGER (1..7), item [0] UTF8String OPTIONAL, owner [1] UTF8String OPTIONAL, program
/// [2] UTF8String OPTIONAL, accounts [3] SEQUENCE (SIZE (2..8)) OF UTF8String OPTIONAL }`
package struct Consent: Hashable, Sendable, DERReadable, DERWritable {
    package enum Purpose: Int64, CaseIterable, Sendable {
        /// Read, change or delete one item of another program.
        case readItem = 1
        case changeItem = 2
        case deleteItem = 3
        /// Accept a new build of a program that stored items before.
        case acceptBuild = 4
        /// List the items of all programs, without values.
        case listOwners = 5
        /// Add or remove a permission to read an item, or to accept new builds from a folder.
        case changePermission = 6
        /// Move items to another owner.
        case moveItems = 7
        /// Replace a damaged database by its last verified copy.
        case restore = 8
        /// Copy all items into a backup.
        case backUp = 9
        /// Merge the items of a backup into the keychain.
        case restoreBackup = 10
        /// Save, change, delete or use a password of a website among the user's own.
        case savePassword = 11
        case changePassword = 12
        case deletePassword = 13
        case usePassword = 14
        /// Let another device read and change the synchronizable items.
        case admitDevice = 15
        /// Share the synchronizable items of another device's circle.
        case enterCircle = 16
        /// Remove a device from the circle.
        case removeDevice = 17
        /// Let another device receive some of the synchronizable items.
        case admitCompanion = 18
        /// Receive some of the synchronizable items of another device's circle.
        case enterAsCompanion = 19
        /// Put items on the list of a companion, or take them off it.
        case allowItems = 20
        case disallowItems = 21
        /// Let whoever has a token receive some of the synchronizable items.
        case makeToken = 22
        /// Make a key that admits a device to the circle without another device, or end it.
        case makeRecoveryKey = 23
        case endRecoveryKey = 24
        /// Share the synchronizable items of the circle of a recovery key.
        case enterByRecoveryKey = 25
        /// See which items are canaries, or change that.
        case changeCanaries = 30
    }

    package struct Choices: OptionSet, Hashable, Sendable {
        package let rawValue: Int64
        package init(rawValue: Int64) { self.rawValue = rawValue }
        package static let once = Self(rawValue: 1)
        package static let untilLock = Self(rawValue: 2)
        package static let always = Self(rawValue: 4)

        fileprivate func contains(_ choice: ConsentChoice) -> Bool { rawValue >> (choice.rawValue - 1) & 1 == 1 }
    }

    package static let textBytesMax = 512
    package static let accountsMax = 8

    package let purpose: Purpose
    package let offered: Choices
    /// The item's name, or the number of items if there are several; for a device, the code that it shows; for a token, its validity.
    package let item: String?
    /// The owner of the item: an access group; for a companion, the items of its list.
    package let owner: String?
    /// The program that receives access, the other device or devices of a circle, or the folder of builds.
    package let program: String?
    /// The accounts of which the user picks one; empty if there is nothing to pick.
    package let accounts: [String]

    /// The possible answers besides no.
    package var choices: [ConsentChoice] {
        accounts.isEmpty ? ConsentChoice.durations.filter(offered.contains) : accounts.indices.map { .account($0) }
    }

    /// Shortens long texts in the middle, since they are for display only.
    package init(
        _ purpose: Purpose, offered: Choices, item: String? = nil, owner: String? = nil, program: String? = nil, accounts: [String] = []
    ) {
        self.purpose = purpose
        self.offered = offered
        self.item = item.map(Self.bounded)
        self.owner = owner.map(Self.bounded)
        self.program = program.map(Self.bounded)
        self.accounts = accounts.prefix(Self.accountsMax).map(Self.bounded)
    }

    private static func bounded(_ text: String) -> String { PlainLine.bothEnds(text, bytesMax: textBytesMax) }

    /// Compares bytes: a consent to one spelling does not cover another.
    package static func == (first: Self, second: Self) -> Bool {
        (first.purpose, first.offered) == (second.purpose, second.offered) && first.words == second.words
    }
    package func hash(into hasher: inout Hasher) {
        hasher.combine(purpose)
        hasher.combine(offered)
        hasher.combine(words)
    }
    private var words: [[UInt8]?] { ([item, owner, program] + accounts.map(Optional.some)).map { $0.map { Array($0.utf8) } } }

    package init(from fields: inout DERFields) throws {
        guard let purpose = Purpose(rawValue: try fields.integer("purpose", in: 1...255)) else { throw DERError("purpose is unknown") }
        self.purpose = purpose
        offered = Choices(rawValue: try fields.integer("offered", in: 1...7))
        item = try fields.optionalText(0, "item", max: Self.textBytesMax)
        owner = try fields.optionalText(1, "owner", max: Self.textBytesMax)
        program = try fields.optionalText(2, "program", max: Self.textBytesMax)
        accounts =
            try fields.optional(3, "accounts") { list in
                var texts: [String] = []
                while !list.isEmpty {
                    guard texts.count < Self.accountsMax else { throw DERError("accounts are too many") }
                    texts.append(try list.text("account", max: Self.textBytesMax))
                }
                guard texts.count >= 2 else { throw DERError("accounts are too few") }
                return texts
            } ?? []
    }

    package func write(into der: inout DERWriter) throws {
        try der.sequence { fields in
            try fields.integer(purpose.rawValue)
            try fields.integer(offered.rawValue)
            try fields.optionalText(0, item)
            try fields.optionalText(1, owner)
            try fields.optionalText(2, program)
            if !accounts.isEmpty { try fields.tagged(3) { list in for account in accounts { try list.text(account) } } }
        }
    }
}
