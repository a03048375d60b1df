import Foundation
import Glibc
import VaubanProtection

/// The attempts of a program that was taken over after it restricted itself, or after `vauban protect` started it.
struct Taken {
    private var measures: ProcessProtection.Measures = []
    private var kept: [String] = []
    private let attempts: [String]

    private static let names: [String: ProcessProtection.Measures] = [
        "nothing": [], "privileges": .noNewPrivileges, "code": .noNewCode, "calls": .noIntrusiveCalls, "namespaces": .noNamespaces,
        "processes": .noForeignProcesses, "sockets": .noAbstractSockets, "system": .noSystemChanges, "sealed": .sealedCode,
        "supported": ProcessProtection.supported,
    ]

    /// Parses `MEASURE,…` or `none`, in which `keep=PATH` names a path that must not change, and the attempts.
    init(_ words: [String]) {
        guard let first = words.first else { fail("taken MEASURE,… ATTEMPT…") }
        for word in first.split(separator: ",").map(String.init) where word != "none" {
            if word.hasPrefix("keep=") {
                kept.append(String(word.dropFirst("keep=".count)))
            } else if let measure = Self.names[word] {
                measures.formUnion(measure)
            } else {
                fail("no measure called \(word)")
            }
        }
        isRestricted = first != "none"
        attempts = Array(words.dropFirst())
    }

    private let isRestricted: Bool

    func run() {
        Confined.each(attempts) { attempt in
            do {
                if isRestricted { try ProcessProtection.restrict(measures, keeping: kept) }
                return Confined.perform(attempt)
            } catch {
                FileHandle.standardError.write(Data("hardening-probe: \(error)\n".utf8))
                return 255
            }
        }
    }
}
