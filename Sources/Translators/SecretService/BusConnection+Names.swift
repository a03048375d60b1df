// Queries to the bus itself: this connection's names, and the processes of other connections.

import Glibc
internal import CVaubanBus
internal import VaubanLinuxHost

extension BusConnection {
    /// Subscribes to notices about clients that leave the bus.
    func watchClients() throws(SystemError) {
        try watch("type='signal',sender='\(Self.daemon)',interface='\(Self.daemon)',member='NameOwnerChanged',arg2=''")
    }

    /// Subscribes to the signals that match a D-Bus match rule.
    func watch(_ rule: String) throws(SystemError) { _ = try ask("AddMatch", rule) }

    /// Requests a name. Returns false if another connection owns it.
    func take(_ name: String) throws(SystemError) -> Bool {
        // SD_BUS_NAME_REPLACE_EXISTING: replaces an owner that allows replacement; this service does not allow it.
        let result = sd_bus_request_name(bus, name, 1)
        if result == -EEXIST { return false }
        try SystemError.checkNegated(result, "take the name \(name)")
        return true
    }

    /// Requests a name, and joins the bus's queue for it if another connection owns it. Returns whether it is owned now.
    func takeOrQueue(_ name: String) throws(SystemError) -> Bool {
        // SD_BUS_NAME_REPLACE_EXISTING | SD_BUS_NAME_QUEUE
        try SystemError.checkNegated(sd_bus_request_name(bus, name, 1 | 4), "take the name \(name)") > 0
    }

    /// Returns the unique name of the connection that owns a name, or nil if the name has no owner.
    func owner(of name: String) -> String? { (try? ask("GetNameOwner", name))?.first?.text }

    /// Returns the process that owns a name, or nil if the name has no owner.
    func process(of name: String) -> Int32? {
        guard let values = try? ask("GetConnectionUnixProcessID", name), case .unsigned32(let number)? = values.first else { return nil }
        return Int32(bitPattern: number)
    }

    /// Returns the process of a client; nil if the client has left the bus.
    func clientProcess(_ name: String) -> BusProcess? {
        let now = MachineClock.boot
        guard let values = try? ask("GetConnectionCredentials", name), case .array(_, let entries)? = values.first else { return nil }
        var number: Int32?
        var descriptor: Descriptor?
        for case .entry(.string(let key), .variant(let value)) in entries {
            switch (key, value) {
            case ("ProcessID", .unsigned32(let said)): number = Int32(bitPattern: said)
            case ("ProcessFD", .file(let said)): descriptor = said
            default: break
            }
        }
        guard let number else { return nil }
        return BusProcess(number: number, descriptor: descriptor ?? openedProcess(number, of: name, now: now))
    }

    /// Opens the process of a client by its number, for a bus that reports nothing else. Returns nil if the number may have been reused:
    /// because the client has left the bus, or because the process started after the client connected.
    private func openedProcess(_ number: Int32, of name: String, now: UInt64) -> Descriptor? {
        guard let descriptor = try? ProcessDescriptor.open(number), process(of: name) == number,
            let start = ProcessDescriptor.start(of: number).flatMap(UInt64.init)
        else { return nil }
        let place = Self.place(of: name)
        let came = place > 0 && place < own.place ? min(own.since, now) : now
        return start <= came / Self.nanosecondsOfTick ? descriptor : nil
    }

    /// The length of a clock tick in the kernel's process times (`USER_HZ`).
    private static let nanosecondsOfTick: UInt64 = 10_000_000

    static func place(of name: String) -> UInt64 { name.split(separator: ".").last.flatMap { UInt64($0) } ?? 0 }

    private func ask(_ member: String, _ argument: String) throws(SystemError) -> [BusValue] {
        var call: OpaquePointer?
        try SystemError.checkNegated(
            sd_bus_message_new_method_call(bus, &call, Self.daemon, Self.daemonPath, Self.daemon, member), "ask the bus")
        guard let call else { throw SystemError("ask the bus", code: ENOMEM) }
        defer { sd_bus_message_unref(call) }
        try BusWriter(message: call).append([.string(argument)])
        var reply: OpaquePointer?
        try SystemError.checkNegated(sd_bus_call(bus, call, 0, nil, &reply), "ask the bus")
        guard let reply else { return [] }
        defer { sd_bus_message_unref(reply) }
        return try BusReader.arguments(of: reply)
    }
}
