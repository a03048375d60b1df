import Foundation
import Testing
import VaubanEtcd
import VaubanSyncCarrierWire

/// The files of a circle in etcd, over a model of it.
@Suite struct EtcdStoreTests {
    private func reply(
        of model: EtcdModel, to operation: CarrierRequest.Operation, name: String = "", file: [UInt8] = [], in section: String = "circle",
        unless other: CarrierRequest.File? = nil
    ) async throws -> CarrierReply {
        let request = try #require(CarrierRequest(operation, section: section, name: name, unless: other, file: file))
        return try await EtcdStore(model, user: "anna").reply(to: request)
    }

    private func long(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 2 * EtcdHead.partBytes + 110) }

    @Test("Files are added, read, replaced and removed") func filesAreAddedReadReplacedAndRemoved() async throws {
        let model = EtcdModel()
        #expect(try await reply(of: model, to: .read, name: "00000001") == .absent)
        #expect(try await reply(of: model, to: .add, name: "00000001", file: [1, 2]) == .done)
        #expect(try await reply(of: model, to: .read, name: "00000001") == .file([1, 2]))
        // The same file once more, as after a lost reply, and another one.
        #expect(try await reply(of: model, to: .add, name: "00000001", file: [1, 2]) == .done)
        #expect(try await reply(of: model, to: .add, name: "00000001", file: [3]) == .taken)
        #expect(try await reply(of: model, to: .replace, name: "00000001", file: [3]) == .done)
        #expect(try await reply(of: model, to: .read, name: "00000001") == .file([3]))
        #expect(await model.keys == ["/vauban/1/anna/files/circle/00000001"])
        #expect(try await reply(of: model, to: .remove, name: "00000001") == .done)
        #expect(await model.keys.isEmpty)
    }

    @Test("A conditional request reads or adds nothing while the other file exists, in one transaction", arguments: [false, true])
    func conditionalRequestDoesNothingWhileTheOtherFileExists(_ isLong: Bool) async throws {
        let (model, next) = (EtcdModel(), CarrierRequest.File(section: "circle", name: "00000002"))
        let (first, second) = isLong ? (long(1), long(2)) : ([1], [2])
        func ask(_ operation: CarrierRequest.Operation, _ name: String, file: [UInt8] = []) async throws -> CarrierReply {
            try await reply(of: model, to: operation, name: name, file: file, in: "devices/00ff", unless: next)
        }
        #expect(try await ask(.readUnless, "00000001") == .absent)
        #expect(try await ask(.addUnless, "00000001", file: first) == .done)
        #expect(try await ask(.readUnless, "00000001") == .file(first))
        #expect(try await ask(.addUnless, "00000001", file: second) == .taken)
        let (before, requests) = (await model.keys, await model.requests.count)
        #expect(try await reply(of: model, to: .add, name: next.name, file: [7]) == .done)
        #expect(try await ask(.readUnless, "00000001") == .present)
        // A file that was there before it, as after a lost reply.
        #expect(try await ask(.addUnless, "00000001", file: first) == .done)
        #expect(try await ask(.addUnless, "00000002", file: second) == .present)
        #expect(await model.keys == ["/vauban/1/anna/files/circle/00000002"] + before)
        if !isLong { #expect(await model.requests.count == requests + 4) }
    }

    @Test(
        "A server that answers a condition with another file, two files, or nothing is refused",
        arguments: [
            "{\"header\":{}}", "{\"header\":{},\"responses\":[{\"response_range\":{\"header\":{}}}]}",
            "{\"header\":{},\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"eA==\",\"value\":\"AA==\"}]}}]}",
            "{\"header\":{},\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"OTHER\"},{\"key\":\"OTHER\"}]}}]}",
            "{\"header\":{},\"succeeded\":true,\"responses\":[{\"response_range\":{\"kvs\":[{\"key\":\"OTHER\",\"value\":\"AA==\"}]}}]}",
            "{\"header\":{},\"succeeded\":true,\"responses\":[{\"response_range\":{\"more\":true}}]}",
            "{\"succeeded\":true}", "{}", "[]", "",
        ]) func hostileConditions(_ answer: String) async throws
    {
        let model = EtcdModel { _, _ in answer.replacing("OTHER", with: "L3ZhdWJhbi8xL2FubmEvZmlsZXMvY2lyY2xlLzAwMDAwMDAy") }
        let fault = await #expect(throws: EtcdError.self) {
            try await reply(of: model, to: .readUnless, name: "00000001", unless: CarrierRequest.File(section: "circle", name: "00000002"))
        }
        #expect(fault?.kind == .garbage)
    }

    @Test("The longest file is split into requests within etcd's limit, and read as one") func longestFileIsSplit() async throws {
        let model = EtcdModel()
        let file = [UInt8](repeating: 7, count: CarrierGrammar.fileBytesMax)
        #expect(try await reply(of: model, to: .add, name: "00000001", file: file) == .done)
        #expect(try await reply(of: model, to: .read, name: "00000001") == .file(file))
        #expect(await model.rows.values.allSatisfy { $0.count <= EtcdHead.partBytes + 1 })
        #expect(await model.requests.allSatisfy { $0.body.count < 400_000 })
        #expect(await model.keys.count == 37)
        #expect(try await reply(of: model, to: .names) == .names(["00000001"]))
        #expect(try await reply(of: model, to: .remove, name: "00000001") == .done)
        #expect(await model.keys.isEmpty)
    }

    @Test("A long file appears with its last write or not at all", arguments: 0...3) func longFileAppearsAtOnce(_ written: Int) async throws
    {
        let model = EtcdModel()
        await model.killAfter(transactions: written)
        await #expect(throws: EtcdError.self) { try await reply(of: model, to: .add, name: "00000001", file: long(1)) }
        await model.killAfter(transactions: .max)
        #expect(try await reply(of: model, to: .read, name: "00000001") == .absent)
        #expect(try await reply(of: model, to: .names) == .names([]))
        // Another file takes the name and removes the parts that the first one left.
        #expect(try await reply(of: model, to: .add, name: "00000001", file: long(2)) == .done)
        #expect(try await reply(of: model, to: .read, name: "00000001") == .file(long(2)))
        #expect(await model.keys.count == 4)
    }

    @Test("Writing a short file removes what a killed run left under its name", arguments: [CarrierRequest.Operation.add, .replace])
    func shortFileClearsParts(_ operation: CarrierRequest.Operation) async throws {
        let model = EtcdModel()
        await model.killAfter(transactions: 2)
        await #expect(throws: EtcdError.self) { try await reply(of: model, to: .add, name: "00000001", file: long(1)) }
        await model.killAfter(transactions: .max)
        #expect(await model.keys.count == 2)
        #expect(try await reply(of: model, to: operation, name: "00000001", file: [1]) == .done)
        #expect(await model.keys == ["/vauban/1/anna/files/circle/00000001"])
    }

    @Test("A long file whose name is taken leaves no parts") func longFileWhoseNameIsTakenLeavesNothing() async throws {
        let model = EtcdModel()
        #expect(try await reply(of: model, to: .add, name: "00000001", file: long(1)) == .done)
        #expect(try await reply(of: model, to: .add, name: "00000001", file: long(2)) == .taken)
        #expect(try await reply(of: model, to: .read, name: "00000001") == .file(long(1)))
        #expect(await model.keys.count == 4)
        #expect(try await reply(of: model, to: .replace, name: "00000001", file: [1]) == .done)
        #expect(await model.keys.count == 1)
    }

    @Test("A file with missing or altered parts is refused") func partsThatAreGoneOrAlteredAreRefused() async throws {
        for spoiled: [UInt8]? in [nil, [UInt8](repeating: 9, count: EtcdHead.partBytes), [9]] {
            let model = EtcdModel()
            #expect(try await reply(of: model, to: .add, name: "00000001", file: long(1)) == .done)
            let part = try #require(await model.keys.first { $0.contains("/parts/") && $0.hasSuffix("/1") })
            await model.drop { $0 == part }
            if let spoiled { await model.put(part, spoiled) }
            let fault = await #expect(throws: EtcdError.self) { try await reply(of: model, to: .read, name: "00000001") }
            #expect(fault?.kind == .damaged)
        }
    }

    @Test("Names are read in pages, without values, and only valid ones") func namesArePaged() async throws {
        let model = EtcdModel()
        let names = (1...2500).map { String(String($0 + 100_000_000).dropFirst()) }
        for name in names { await model.put("/vauban/1/anna/files/circle/\(name)", [0, 1]) }
        for name in ["../x", "A", ".hidden", "a/b", "\u{1b}[2J", "", String(repeating: "a", count: 65)] {
            await model.put("/vauban/1/anna/files/circle/\(name)", [0])
        }
        await model.put("/vauban/1/anna/files/circles/00000001", [0])
        await model.put("/vauban/1/annax/files/circle/00000001", [0])
        #expect(try await reply(of: model, to: .names) == .names(names))
        let requests = await model.requests
        #expect(requests.count == 3 && requests.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains("\"keys_only\":true") })
    }

    @Test(
        "A server that repeats, disorders or invents names is refused",
        arguments: [
            "{\"header\":{},\"more\":true}",
            "{\"header\":{},\"kvs\":[{\"key\":\"L3ZhdWJhbi8xL2Jlcm50L2ZpbGVzL2NpcmNsZS94\"}]}",
            "{\"header\":{},\"kvs\":[{\"key\":\"KEY\"},{\"key\":\"KEY\"}]}",
            "{\"header\":{},\"kvs\":[{\"key\":\"KEY\",\"value\":\"AA==\"}]}",
            "{\"header\":{},\"kvs\":[{\"key\":\"not base64\"}]}", "{\"header\":{},\"kvs\":[{\"value\":\"AA==\"}]}",
            "{\"header\":{},\"kvs\":7}", "{\"header\":{},\"kvs\":{}}", "{\"header\":{},\"kvs\":[7]}",
            "{\"header\":{},\"kvs\":[{\"key\":\"KEY\"},7]}", "{\"kvs\":[]}", "{}", "[]", "", "null", "{", "<html>", "{\"header\":{}} {}",
            "{\"header\":\(String(repeating: "[", count: 100_000))",
        ]) func hostileNames(_ answer: String) async throws
    {
        let model = EtcdModel { _, _ in answer.replacing("KEY", with: "L3ZhdWJhbi8xL2FubmEvZmlsZXMvY2lyY2xlLzE=") }
        let fault = await #expect(throws: EtcdError.self) { try await reply(of: model, to: .names) }
        #expect(fault?.kind == .garbage)
    }

    @Test("An endless list is refused before it fills memory") func endlessNames() async throws {
        let folder = "/vauban/1/anna/files/circle/"
        let endless = EtcdModel { request, _ in
            // The page after the requested key: in order, all keys of one length, and always more.
            let text = String(decoding: request.body, as: UTF8.self)
            let asked = text.split(separator: "\"").dropFirst(3).first.flatMap { Data(base64Encoded: String($0)) } ?? Data()
            let digits = String(decoding: asked.dropFirst(folder.utf8.count).prefix { $0 != 0 }, as: UTF8.self)
            let first = (Int(digits) ?? 10_000_000) + 1
            let rows = (first..<first + EtcdLimits.keysOfPage).map { "{\"key\":\"\(Data("\(folder)\($0)".utf8).base64EncodedString())\"}" }
            return "{\"header\":{},\"kvs\":[\(rows.joined(separator: ","))],\"more\":true}"
        }
        let fault = await #expect(throws: EtcdError.self) { try await reply(of: endless, to: .names) }
        #expect(fault?.kind == .damaged)
        #expect(await endless.requests.count == EtcdLimits.namesMax / EtcdLimits.keysOfPage + 1)
    }

    @Test("Time for connecting is reserved for each further node") func timeOfNodes() {
        #expect(EtcdLimits.secondsOfNode(left: 30, nodesAfter: 0) == 30)
        #expect(EtcdLimits.secondsOfNode(left: 30, nodesAfter: 2) == 24)
        #expect(EtcdLimits.secondsOfNode(left: 1, nodesAfter: 8) == EtcdLimits.connectSeconds)
    }

    @Test(
        "A server that answers with another file, two files, or too much is refused",
        arguments: [
            "{\"header\":{},\"kvs\":[{\"key\":\"eA==\",\"value\":\"AA==\"}]}",
            "{\"header\":{},\"kvs\":[{\"key\":\"KEY\",\"value\":\"AA==\"},{\"key\":\"KEY\",\"value\":\"AA==\"}]}",
            "{\"header\":{},\"kvs\":[{\"key\":\"KEY\",\"value\":\"AA==\"}],\"more\":true}",
            "{\"header\":{},\"kvs\":[{\"key\":\"KEY\",\"value\":7}]}", "{\"header\":{},\"more\":true}",
            "{\"header\":{},\"kvs\":[],\"more\":true}", "{\"header\":{},\"kvs\":\"KEY\"}",
        ]) func hostileFiles(_ answer: String) async throws
    {
        let key = "L3ZhdWJhbi8xL2FubmEvZmlsZXMvY2lyY2xlLzAwMDAwMDAx"
        let model = EtcdModel { _, _ in answer.replacing("KEY", with: key) }
        let fault = await #expect(throws: EtcdError.self) { try await reply(of: model, to: .read, name: "00000001") }
        #expect(fault?.kind == .garbage)
    }

    @Test("A value that is not a file is refused") func valueThatIsNoFileIsRefused() async throws {
        for value: [UInt8] in [[], [2, 1], [1, 0, 0, 0, 1], [1] + [0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 32)] {
            let model = EtcdModel()
            await model.put("/vauban/1/anna/files/circle/00000001", value)
            let fault = await #expect(throws: EtcdError.self) { try await reply(of: model, to: .read, name: "00000001") }
            #expect(fault?.kind == .damaged)
        }
    }

    @Test("The cluster and the revision of the store are those of the answer's header, and an answer without them is refused")
    func revision() async throws {
        let request = try #require(CarrierRequest(.revision, section: ""))
        let model = EtcdModel()
        #expect(try await EtcdStore(model, user: "anna").reply(to: request) == .revision(cluster: 14_841_639_068_965_178_418, revision: 7))
        for header in ["{}", "{\"revision\":\"7\"}", "{\"cluster_id\":\"1\"}", "{\"cluster_id\":\"1\",\"revision\":\"0\"}"] {
            let hostile = EtcdModel { _, _ in "{\"header\":\(header)}" }
            let fault = await #expect(throws: EtcdError.self) { try await EtcdStore(hostile, user: "anna").reply(to: request) }
            #expect(fault?.kind == .garbage)
        }
    }

    @Test("A token that would inject a header is refused") func tokenThatWouldInjectAHeaderIsRefused() throws {
        #expect(throws: EtcdError.self) { try EtcdReply(Array("{\"token\":\"a\\r\\nHost: x\"}".utf8)).token() }
        #expect(try EtcdReply(Array("{\"header\":{},\"token\":\"abc.7\"}".utf8)).token() == "abc.7")
    }
}
