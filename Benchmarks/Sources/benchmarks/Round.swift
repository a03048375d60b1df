/// One pass over all measurements. The floor is measured in each pass, so that a ratio compares measurements made at nearly the same time.
struct Round {
    let floor: Samples
    let get: Samples
    /// The same code path, extended by one step each time. The cost of a step is the difference to the step at `from`.
    let steps: [(name: String, from: Int?, samples: Samples)]
    let getCosts: [(name: String, cost: ProcessCost)]
    let add: Samples
    let addCosts: [(name: String, cost: ProcessCost)]
    let bare: Samples
    let gets: Int
    let adds: Int
    var attributes: Samples { steps[Self.attributesStep].samples }
    private static let attributesStep = 4

    init(plan: Plan, cast: Cast, database: BareDatabase) throws {
        let pair = try Floor()
        defer { pair.end() }
        _ = try pair.measure(plan.floorTrips / 10)
        floor = try pair.measure(plan.floorTrips)

        // An order other than that of the adds, in which every item occurs.
        let order = (0..<plan.gets).map { $0 &* 7919 % plan.items }
        let query = TimedQuery.value(plan.items)
        var get = Samples([])
        getCosts = try cast.costs { get = try query.measure(order) }
        self.get = get
        let steps: [(String, Int?, TimedQuery)] = [
            ("Security alone: a query that it refuses", nil, .badLimit(plan.items)),
            ("+ there and back: keychaind refuses it unread", 0, .foreignGroup(plan.items)),
            ("+ index key, SQLite: nothing is found", 1, .absence(plan.items)),
            ("+ row, metadata opened: found", 2, .existence(plan.items)),
            ("+ attributes in the reply", 3, .attributes(plan.items)),
            ("or + enclaved, value opened, value in the reply", 3, query),
        ]
        self.steps = try steps.map { ($0, $1, try $2.measure(order.prefix(plan.gets / 2))) }

        // The two kinds alternate, since the speed of a disk varies.
        var added: [UInt64] = []
        var bare: [UInt64] = []
        var nextItem = plan.items
        addCosts = try cast.costs {
            for _ in 0..<plan.adds {
                let start = Samples.now
                try Items.add(nextItem)
                let middle = Samples.now
                try database.add()
                bare.append(Samples.now - middle)
                added.append(middle - start)
                nextItem += 1
            }
        }
        for index in plan.items..<nextItem { try Items.delete(index) }
        add = Samples(added)
        self.bare = Samples(bare)
        gets = plan.gets
        adds = plan.adds
    }

    var getRatio: Double { self.get.median / (2 * floor.median) }
    var addRatio: Double { add.median / bare.median }
}
