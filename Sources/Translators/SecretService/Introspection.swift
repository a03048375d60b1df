// The interfaces as tables: the arguments of methods, the properties, and the document that describes them to clients.

enum Introspection {
    struct Property {
        let type: String
        let isWritable: Bool
    }

    struct Method {
        let name: String
        let takes: String
        let gives: String
    }

    private static let methods: [String: [Method]] = [
        WalletInterface.name: WalletInterface.methods,
        "org.freedesktop.Secret.Service": [
            Method(name: "OpenSession", takes: "sv", gives: "vo"), Method(name: "CreateCollection", takes: "a{sv}s", gives: "oo"),
            Method(name: "SearchItems", takes: "a{ss}", gives: "aoao"), Method(name: "Unlock", takes: "ao", gives: "aoo"),
            Method(name: "Lock", takes: "ao", gives: "aoo"), Method(name: "GetSecrets", takes: "aoo", gives: "a{o(oayays)}"),
            Method(name: "ReadAlias", takes: "s", gives: "o"), Method(name: "SetAlias", takes: "so", gives: ""),
        ],
        "org.freedesktop.Secret.Collection": [
            Method(name: "Delete", takes: "", gives: "o"), Method(name: "SearchItems", takes: "a{ss}", gives: "ao"),
            Method(name: "CreateItem", takes: "a{sv}(oayays)b", gives: "oo"),
        ],
        "org.freedesktop.Secret.Item": [
            Method(name: "Delete", takes: "", gives: "o"), Method(name: "GetSecret", takes: "o", gives: "(oayays)"),
            Method(name: "SetSecret", takes: "(oayays)", gives: ""),
        ],
        "org.freedesktop.Secret.Session": [Method(name: "Close", takes: "", gives: "")],
        "org.freedesktop.Secret.Prompt": [Method(name: "Prompt", takes: "s", gives: ""), Method(name: "Dismiss", takes: "", gives: "")],
        "org.freedesktop.impl.portal.Secret": [Method(name: "RetrieveSecret", takes: "osha{sv}", gives: "ua{sv}")],
        "org.freedesktop.impl.portal.Request": [Method(name: "Close", takes: "", gives: "")],
    ]

    static let properties: [String: [String: Property]] = [
        "org.freedesktop.Secret.Service": ["Collections": Property(type: "ao", isWritable: false)],
        "org.freedesktop.Secret.Collection": [
            "Items": Property(type: "ao", isWritable: false), "Label": Property(type: "s", isWritable: true),
            "Locked": Property(type: "b", isWritable: false), "Created": Property(type: "t", isWritable: false),
            "Modified": Property(type: "t", isWritable: false),
        ],
        "org.freedesktop.Secret.Item": [
            "Locked": Property(type: "b", isWritable: false), "Attributes": Property(type: "a{ss}", isWritable: true),
            "Label": Property(type: "s", isWritable: true), "Created": Property(type: "t", isWritable: false),
            "Modified": Property(type: "t", isWritable: false),
        ],
        "org.freedesktop.impl.portal.Secret": ["version": Property(type: "u", isWritable: false)],
    ]

    private static let signals: [String: [(name: String, carries: String)]] = [
        "org.freedesktop.Secret.Service": [("CollectionCreated", "o"), ("CollectionDeleted", "o"), ("CollectionChanged", "o")],
        "org.freedesktop.Secret.Collection": [("ItemCreated", "o"), ("ItemDeleted", "o"), ("ItemChanged", "o")],
        "org.freedesktop.Secret.Prompt": [("Completed", "bv")],
        WalletInterface.name: WalletInterface.signals,
    ]

    static let propertyMethods = ["Get": "ss", "GetAll": "s", "Set": "ssv"]

    /// The argument signatures of each method, by its full name. Some methods of KWallet have several.
    static let signatures = Dictionary(
        methods.flatMap { interface, methods in methods.map { ("\(interface).\($0.name)", [$0.takes]) } }, uniquingKeysWith: +)

    static func document(of object: ObjectPath, _ objects: SecretServiceObjects, for client: BusClient) throws -> String {
        let children: [String] =
            switch object {
            case .service: ["collection", "aliases", "session", "prompt"]
            case .folder("collection"): try objects.collections()
            case .collection(let identifier):
                (try? objects.visible(objects.store(of: identifier).places(having: [], in: identifier), having: [], for: client))?
                    .map(\.identifier) ?? []
            default: []
            }
        let nodes = children.map { "  <node name=\"\($0)\"/>\n" }.joined()
        return """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>
            \(interface(object.interface))\(nodes)</node>

            """
    }

    private static func interface(_ name: String) -> String {
        guard let methods = methods[name] else { return "" }
        let methodLines = methods.map { method in
            let arguments =
                types(method.takes).map { "<arg type=\"\($0)\" direction=\"in\"/>" }
                + types(method.gives).map { "<arg type=\"\($0)\" direction=\"out\"/>" }
            return "    <method name=\"\(method.name)\">\(arguments.joined())</method>\n"
        }
        let propertyLines = (properties[name] ?? [:]).sorted { $0.key < $1.key }.map { key, property in
            "    <property name=\"\(key)\" type=\"\(property.type)\" access=\"\(property.isWritable ? "readwrite" : "read")\"/>\n"
        }
        let signalLines = (signals[name] ?? []).map { signal in
            "    <signal name=\"\(signal.name)\">\(types(signal.carries).map { "<arg type=\"\($0)\"/>" }.joined())</signal>\n"
        }
        return "  <interface name=\"\(name)\">\n\((methodLines + propertyLines + signalLines).joined())  </interface>\n"
    }

    /// Returns the complete types in a signature.
    private static func types(_ signature: String) -> [String] {
        var types: [String] = []
        var current = ""
        var depth = 0
        for character in signature {
            current.append(character)
            if "({".contains(character) { depth += 1 }
            if ")}".contains(character) { depth -= 1 }
            if depth == 0, character != "a" {
                types.append(current)
                current = ""
            }
        }
        return types
    }
}
