import Foundation
import Glibc

/// The cost of a process so far, as the kernel accounts it for all of its threads.
struct ProcessCost {
    var cpuMicroseconds = 0.0
    var waitsMicroseconds = 0.0
    /// How often a thread gave up the processor to wait: about once per message.
    var sleeps = 0
    var userTicks = 0
    var systemTicks = 0

    init(of pid: pid_t) {
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? [] {
            let folder = "/proc/\(pid)/task/\(thread)"
            let schedule = Self.text("\(folder)/schedstat").split(separator: " ").compactMap {
                Double($0.trimmingCharacters(in: .newlines))
            }
            if schedule.count == 3 {
                cpuMicroseconds += schedule[0] / 1000
                waitsMicroseconds += schedule[1] / 1000
            }
            for line in Self.text("\(folder)/status").split(separator: "\n") where line.hasPrefix("voluntary_ctxt_switches:") {
                sleeps += Int(line.split(separator: "\t").last ?? "") ?? 0
            }
        }
        // The second field, the program's name, may contain anything, so fields are counted from its end.
        let numbers = Self.text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        if numbers.count > 13 {
            userTicks = Int(numbers[11]) ?? 0
            systemTicks = Int(numbers[12]) ?? 0
        }
    }

    static func - (after: ProcessCost, before: ProcessCost) -> ProcessCost {
        var difference = after
        difference.cpuMicroseconds -= before.cpuMicroseconds
        difference.waitsMicroseconds -= before.waitsMicroseconds
        difference.sleeps -= before.sleeps
        difference.userTicks -= before.userTicks
        difference.systemTicks -= before.systemTicks
        return difference
    }

    /// The fraction of its processor time that was spent in the kernel.
    var systemPart: Double { Double(systemTicks) / Double(max(userTicks + systemTicks, 1)) }

    private static func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}

/// This process and the rooms of one keychain.
struct Cast {
    let members: [(name: String, pid: pid_t)]

    init(home: String) {
        var found: [(String, pid_t)] = [("client", getpid())]
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let pid = pid_t(entry), let line = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(entry)/cmdline")) else { continue }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            if words.contains("\(home)/keychain") { found.append(("keychaind", pid)) }
            if words.contains("\(home)/enclave") { found.append(("enclaved", pid)) }
        }
        members = found
    }

    /// Returns the cost of `body` for each process.
    func costs(of body: () throws -> Void) rethrows -> [(name: String, cost: ProcessCost)] {
        let before = members.map { ProcessCost(of: $0.pid) }
        try body()
        return zip(members, before).map { ($0.name, ProcessCost(of: $0.pid) - $1) }
    }
}
