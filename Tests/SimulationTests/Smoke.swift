import SimulatedHost
import Testing

@Suite struct SmokeTests {
    @Test func few() throws {
        let start = try World()
        var level: [StateKey: World] = [StateKey(start): start]
        let clock = ContinuousClock()
        for depth in 1...5 {
            let begin = clock.now
            var next: [StateKey: World] = [:]
            var edges = 0
            for world in level.values {
                for step in Step.plain {
                    do {
                        let after = try world.after(step)
                        edges += 1
                        if depth < 5 { next[StateKey(after)] = after }
                        try after.observe(rows: false)
                    } catch let d as Difference {
                        Issue.record("\(world.path) \(step): \(d)")
                        return
                    }
                }
            }
            let middle = clock.now
            if depth < 5 {
            for world in next.values {
                do { try world.observe(rows: true) } catch let d as Difference { Issue.record("\(world.path): \(d)"); return }
            }
            }
            print("depth \(depth): \(level.count) states, \(edges) edges, \(next.count) new, \(middle - begin), reading \(clock.now - middle)")
            level = next
            if level.count > 20000 { return }
        }
    }
}
