import VaubanRefusal

/// The items in a backup that disappeared from the keychain without a deletion, and whether a run may continue without the user.
struct BackupLoss {
    /// The path of the backup, for advice.
    let path: String
    /// The number of items of the backup that have disappeared since the last run.
    let newlyGone: Int
    /// The number of items that the keychain should have.
    let expected: Int
    let database: Database

    enum Database {
        case same
        /// A database from which this backup was neither made nor completely restored.
        case another
        /// An earlier copy of the database from which the last backup was made.
        case earlier
        /// Nothing is recorded about the last database.
        case unknown

        /// - Parameter list: The digest of the existing manifest; nil if it is damaged.
        init(_ run: (database: Int64, number: Int64), in memory: BackupMemory, list: [UInt8]?) {
            guard !memory.databases.isEmpty || !memory.lists.isEmpty else {
                self = .unknown
                return
            }
            guard memory.holds(of: list), let last = memory.databases[run.database] else {
                self = .another
                return
            }
            self = run.number < last ? .earlier : .same
        }
    }

    /// Up to this number, items may disappear without a warning, unless all do: they may be, for example, damaged rows.
    private static let itemsMax = 10

    private var isLarge: Bool {
        newlyGone > 0 && (newlyGone == expected || newlyGone > Self.itemsMax && newlyGone * 10 > expected)
    }

    /// The warning that the user must accept before the backup continues; nil for none.
    var warning: String? {
        switch database {
        case .unknown:
            "What the backup remembers of the keychain is missing or damaged, so this may be another one, or an earlier copy"
                + (newlyGone == 0 ? "" : "; \(loss)")
        case .earlier:
            "The keychain is an earlier copy of the one that was backed up here last: what changed since would be replaced in the backup"
        case .another:
            "The keychain is not the one that was backed up here, or was not restored completely: what is older in it would replace what "
                + "the backup has" + (newlyGone == 0 ? "" : "; \(loss)")
        case .same:
            isLarge ? loss : nil
        }
    }

    private var loss: String {
        "\(newlyGone) of \(count(expected, "item")) in the backup \(newlyGone == 1 ? "is" : "are") gone from the keychain "
            + "without having been deleted"
    }

    /// Throws unless there is no warning, or the user accepts it.
    func confirm(_ user: CommandUser) throws {
        guard let warning else { return }
        let advice = "To bring back what is in the backup: vauban restore \(SafeText.visible(path))"
        guard let terminal = user.terminal else {
            throw Refusal(
                .notAllowedHere,
                "\(warning); nothing was backed up. \(advice). To continue anyway, without losing what is gone: "
                    + "vauban backup --accept-missing \(SafeText.visible(path))")
        }
        terminal.write("\(warning).\n\(advice)\n")
        guard terminal.readWord("Continue anyway? The backup keeps what is gone. Type yes to confirm: ") == "yes" else {
            throw Refusal(.cancelled, "nothing was backed up")
        }
    }
}
