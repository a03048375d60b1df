/// Compares Vauban with the C program that does the same work, in one run: single calls, and the throughput of several clients.
struct Comparison {
    private static let clientCounts = [1, 4, 16, 64]

    let plan: Plan
    let program: FloorProgram
    /// The medians of the C program's gets, one for each round.
    let gets: [Double]

    func show(_ rounds: [Round]) throws {
        guard let get = rounds.map(\.get.median).min(), let floor = gets.min(), let add = rounds.map(\.addRatio).min(),
            let attributes = rounds.map({ $0.attributes.median / $0.get.median }).min()
        else { return }
        Table.say("\nBeside the C program that does the same work:\n")
        Table.row(["", "", "C program", "Vauban", "", "times"])
        Table.row(["get, us", "", Table.text(floor), Table.text(get), "", Table.text(get / floor)])
        // Each client has its own items.
        for clients in Self.clientCounts where clients <= plan.items {
            try showRate("gets a second", work: .get, floor: .get, clients: clients)
        }
        try Signing.makeKey()
        defer { Signing.deleteKey() }
        let sign = try Fleet.run(.sign, clients: 1, items: 0, seconds: plan.seconds).samples.median
        let signFloor = try program.median(.sign, plan.gets / 4)
        Table.row(["signature, us", "", Table.text(signFloor), Table.text(sign), "", Table.text(sign / signFloor)])
        for clients in Self.clientCounts.prefix(2) { try showRate("signatures a second", work: .sign, floor: .sign, clients: clients) }
        Table.say("\nattributes without a value: \(Table.text(attributes)) of a get; add: \(Table.text(add)) bare transactions")
    }

    private func showRate(_ name: String, work: Fleet.Work, floor floorWork: FloorProgram.Work, clients: Int) throws {
        let floor = try program.rate(floorWork, clients: clients, seconds: plan.seconds)
        let ours = try Fleet.run(work, clients: clients, items: plan.items, seconds: plan.seconds).perSecond
        Table.row([name, "\(clients)", Table.text(floor), Table.text(ours), "", Table.text(floor / ours)])
    }
}
