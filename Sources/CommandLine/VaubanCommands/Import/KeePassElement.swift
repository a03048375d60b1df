/// The elements of a KeePass database as a table: each is identified by its name and the element around it.
enum KeePassElement: Hashable {
    case document, file, meta, generator, binIsEnabled, binIdentifier
    case root, group, groupName, groupIdentifier, groupNotes
    case entry, history, identifier, tags, times, doesExpire
    case string, attachment, customData, item, autoType, association, key, value
    /// A date of an entry, under the name that it gets.
    case date(String)
    /// A part of an entry that KeePass shows.
    case shown(String)
    /// A part of an entry that KeePass may hide, or that is not known.
    case hidden(String)
    /// Within an element that has a text.
    case within
    case ignored

    /// The documented elements, except settings of the database, counts of uses, and pictures.
    init(_ name: String, in parent: KeePassElement) {
        self =
            switch (parent, name) {
            case (.document, "KeePassFile"): .file
            case (.file, "Meta"): .meta
            case (.meta, "Generator"): .generator
            case (.meta, "RecycleBinEnabled"): .binIsEnabled
            case (.meta, "RecycleBinUUID"): .binIdentifier
            case (.file, "Root"): .root
            case (.root, "Group"), (.group, "Group"): .group
            case (.group, "Name"): .groupName
            case (.group, "UUID"): .groupIdentifier
            case (.group, "Notes"): .groupNotes
            case (.group, "Entry"), (.history, "Entry"): .entry
            case (.entry, "UUID"): .identifier
            case (.entry, "Tags"): .tags
            case (.entry, "Times"): .times
            case (.times, "CreationTime"): .date("created")
            case (.times, "LastModificationTime"): .date("last modified")
            case (.times, "ExpiryTime"): .date("expires")
            case (.times, "Expires"): .doesExpire
            case (.entry, "IconID"): .shown("icon")
            case (.entry, "ForegroundColor"): .shown("color")
            case (.entry, "BackgroundColor"): .shown("background color")
            case (.entry, "OverrideURL"): .shown("override URL")
            case (.entry, "String"): .string
            case (.entry, "Binary"): .attachment
            case (.entry, "History"): .history
            case (.entry, "CustomData"): .customData
            case (.customData, "Item"): .item
            case (.entry, "AutoType"): .autoType
            case (.autoType, "DefaultSequence"): .hidden("auto-type")
            case (.autoType, "Association"): .association
            case (.string, "Key"), (.attachment, "Key"), (.item, "Key"), (.association, "Window"): .key
            case (.string, "Value"), (.item, "Value"), (.association, "KeystrokeSequence"): .value
            case (.entry, "CustomIconUUID"), (.entry, "QualityCheck"), (.entry, "PreviousParentGroup"): .ignored
            case (.entry, let name): .hidden(name)
            case (let parent, _): parent.hasText || parent == .within ? .within : .ignored
            }
    }

    /// Whether the element's text is a value.
    var hasText: Bool {
        switch self {
        case .generator, .binIsEnabled, .binIdentifier, .groupName, .groupIdentifier, .groupNotes, .identifier, .tags, .doesExpire, .key,
            .value, .date, .shown, .hidden:
            true
        case .document, .file, .meta, .root, .group, .entry, .history, .times, .string, .attachment, .customData, .item, .autoType,
            .association, .within, .ignored:
            false
        }
    }
}
