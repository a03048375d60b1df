// The possible results of a power cut, more than any one file system produces: an algorithm that is correct for all of them relies only on
// syncs being durable and on renames being atomic.

extension DiskImage {
    /// Returns every distinct disk that a power cut can leave at this point, with writes torn at representative offsets; nil if there are
    /// more than `max`. On the first, everything unsynced is lost.
    package func survivors(max: Int) -> [DiskImage]? {
        var found: Set<DiskImage> = []
        var list: [DiskImage] = []
        let isWhole = eachOutcome(of: self, opening: [0], seen: [0]) { image in
            let image = image.compacted
            if found.insert(image).inserted { list.append(image) }
            return list.count <= max
        }
        return isWhole ? list : nil
    }

    /// Returns one disk that a power cut can leave at this point, with writes torn at any byte.
    package func survivor(_ chance: inout SplitMix64) -> DiskImage {
        var image = self
        var open = [0]
        var seen: Set<Int> = [0]
        while let node = open.popLast() {
            switch image.nodes[node] {
            case .folder(let folder):
                var names = folder.durable
                for change in folder.changes { if let kept = change.outcomes.pick(&chance) { Folder.apply(kept, to: &names) } }
                image.nodes[node] = .folder(Folder(durable: names, shown: names))
                for child in names.values.sorted() where seen.insert(child).inserted { open.append(child) }
            case .file(let file):
                let content = file.isDirty ? file.torn(&chance) : file.durable
                image.nodes[node] = .file(File(durable: content, shown: content))
            }
        }
        return image.compacted
    }

    /// Persists one node after another in every way. Returns false if `found` stops the search.
    private func eachOutcome(of image: DiskImage, opening open: [Int], seen: Set<Int>, found: (DiskImage) -> Bool) -> Bool {
        var open = open
        guard let node = open.popLast() else { return found(image) }
        var image = image
        switch image.nodes[node] {
        case .folder(let folder):
            for names in folder.outcomes {
                var seen = seen
                image.nodes[node] = .folder(Folder(durable: names, shown: names))
                let children = names.values.sorted().filter { seen.insert($0).inserted }
                guard eachOutcome(of: image, opening: open + children, seen: seen, found: found) else { return false }
            }
        case .file(let file):
            for content in file.isDirty ? file.outcomes : [file.durable] {
                image.nodes[node] = .file(File(durable: content, shown: content))
                guard eachOutcome(of: image, opening: open, seen: seen, found: found) else { return false }
            }
        }
        return true
    }

    /// The image without nodes that have no name, numbered by name, so that equal disks are equal values.
    private var compacted: DiskImage {
        var numbers = [0: 0]
        var order = [0]
        var next = 0
        while next < order.count {
            if case .folder(let folder) = nodes[order[next]] {
                for (_, child) in folder.shown.sorted(by: { $0.key < $1.key }) where numbers[child] == nil {
                    numbers[child] = order.count
                    order.append(child)
                }
            }
            next += 1
        }
        var image = DiskImage()
        image.nodes = order.map { old in
            guard case .folder(let folder) = nodes[old] else { return nodes[old] }
            let names = folder.shown.compactMapValues { numbers[$0] }
            return .folder(Folder(durable: names, shown: names))
        }
        return image
    }
}

extension DiskImage.Folder {
    /// Any change may be lost while later ones are kept.
    var outcomes: Set<[String: Int]> {
        var outcomes: Set = [durable]
        for change in changes {
            for names in outcomes {
                for kept in change.outcomes {
                    guard let kept else { continue }
                    var changed = names
                    Self.apply(kept, to: &changed)
                    outcomes.insert(changed)
                }
            }
        }
        return outcomes
    }
}

extension DiskImage.Folder.Change {
    /// The possible results of a change: nothing, all of it, and for a rename also both names.
    var outcomes: [Self?] {
        if case .rename(_, let new, let node) = self { [nil, self, .set(new, node)] } else { [nil, self] }
    }
}

extension DiskImage.File {
    /// The size of a page, which a disk keeps or loses as a whole.
    private static let page = 4096

    /// The possible contents of the file, torn at representative offsets.
    var outcomes: Set<[UInt8]> {
        var outcomes: Set = [durable, []]
        for content in abandoned + [shown] {
            let count = content.count
            let pages = stride(from: Self.page, to: count, by: Self.page)
            for tear in Set([0, 1, count / 2, count - 1, count] + pages) where (0...count).contains(tear) {
                for tail in Tail.allCases { outcomes.insert(torn(content, at: tear, tail)) }
            }
        }
        return outcomes
    }

    func torn(_ chance: inout SplitMix64) -> [UInt8] {
        if chance.below(4) == 0 { return durable }
        let contents = abandoned + [shown]
        let content = contents[chance.below(contents.count)]
        return torn(content, at: chance.below(content.count + 1), Tail.allCases.pick(&chance))
    }

    /// The contents after the tear.
    private enum Tail: CaseIterable { case nothing, zeros, garbage, old, lostBefore }

    private func torn(_ content: [UInt8], at tear: Int, _ tail: Tail) -> [UInt8] {
        let rest = content.count - tear
        return switch tail {
        case .nothing: Array(content[..<tear])
        case .zeros: Array(content[..<tear]) + [UInt8](repeating: 0, count: rest)
        case .garbage: Array(content[..<tear]) + (0..<rest).map { UInt8(truncatingIfNeeded: 0xA5 &+ $0 &* 29) }
        // A file overwritten in place before its truncation was durable.
        case .old: Array(content[..<tear]) + durable.dropFirst(tear)
        // Later pages were kept but earlier ones lost.
        case .lostBefore: [UInt8](repeating: 0, count: tear) + content[tear...]
        }
    }
}

/// Pseudorandom numbers from a seed (SplitMix64), so that failures can be reproduced.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to one less than the bound.
    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

extension Array {
    fileprivate func pick(_ chance: inout SplitMix64) -> Element { self[chance.below(count)] }
}
