import Foundation
import Testing
import VaubanEtcd

/// A watch of a user's files, by the messages that etcd sends: what it reports, and where the next watch continues.
@Suite struct EtcdWatchTests {
    private func created(_ revision: Int, cluster: String = "7801232528081817440") -> [UInt8] {
        Array("{\"result\":{\"header\":{\"cluster_id\":\"\(cluster)\",\"revision\":\"\(revision)\"},\"created\":true}}".utf8)
    }

    private func changed(_ files: [(String, Int)], fragment: Bool = false) -> [UInt8] {
        let events = files.map { file, revision in
            let key = Data("/vauban/1/anna/files/\(file)".utf8).base64EncodedString()
            return #"{"kv":{"key":"\#(key)","create_revision":"2","mod_revision":"\#(revision)","version":"1","value":"AA=="}}"#
        }
        let header = "{\"cluster_id\":\"7801232528081817440\",\"revision\":\"90\"}"
        let part = fragment ? #","fragment":true"# : ""
        return Array(#"{"result":{"header":\#(header)\#(part),"events":[\#(events.joined(separator: ","))]}}"#.utf8)
    }

    private func ended(_ rest: String) -> [UInt8] {
        Array("{\"result\":{\"header\":{\"cluster_id\":\"7801232528081817440\"},\"canceled\":true,\(rest)}}".utf8)
    }

    private func start(_ watch: EtcdWatch) throws -> Int? {
        let body = try #require(try JSONSerialization.jsonObject(with: Data(watch.request.body)) as? [String: [String: Any]])
        let request = try #require(body["create_request"])
        #expect(watch.request.path == "/v3/watch")
        #expect(request["key"] as? String == Data("/vauban/1/anna/files/".utf8).base64EncodedString())
        #expect(request["range_end"] as? String == Data("/vauban/1/anna/files0".utf8).base64EncodedString())
        return (request["start_revision"] as? String).flatMap { Int($0) }
    }

    @Test("A new watch reports that anything may have changed, and later what did") func beginsAndReports() throws {
        var watch = EtcdWatch(user: "anna")
        #expect(try start(watch) == nil)
        #expect(try watch.take(created(4)) == .changed([]))
        #expect(
            try watch.take(changed([("circle/00000001", 7), ("devices/00ff/00000001", 7), ("circle/00000002", 8)]))
                == .changed(["circle", "devices/00ff"]))
    }

    @Test("The next watch continues after the last reported change, and reports nothing else") func continuesAfterTheLastChange() throws {
        var watch = EtcdWatch(user: "anna")
        _ = try watch.take(created(4))
        #expect(try start(watch) == 5)
        _ = try watch.take(changed([("circle/00000001", 7)]))
        // The present revision of the whole store does not matter to this watch.
        #expect(try start(watch) == 8)
        #expect(try watch.take(created(30)) == .goOn)
        #expect(try start(watch) == 8)
    }

    @Test("After a fault the next watch also continues, and reports that anything may have changed") func reportsAfterAFault() throws {
        var watch = EtcdWatch(user: "anna")
        _ = try watch.take(created(4))
        watch.noteFault()
        #expect(try start(watch) == 5)
        #expect(try watch.take(created(9)) == .changed([]))
    }

    @Test("A fragmented change is reported again until its last message arrives") func fragments() throws {
        var watch = EtcdWatch(user: "anna")
        _ = try watch.take(created(4))
        #expect(try watch.take(changed([("circle/00000001", 7)], fragment: true)) == .changed(["circle"]))
        #expect(try start(watch) == 5)
        _ = try watch.take(changed([("join/x.1", 7)]))
        #expect(try start(watch) == 8)
    }

    @Test("After compaction the watch starts again, and reports that anything may have changed") func compacted() throws {
        var watch = EtcdWatch(user: "anna")
        _ = try watch.take(created(4))
        _ = try watch.take(changed([("circle/00000001", 7)]))
        #expect(try watch.take(created(40)) == .goOn)
        #expect(try watch.take(ended("\"compact_revision\":\"30\"")) == .beginAnew)
        #expect(try start(watch) == nil)
        #expect(try watch.take(created(41)) == .changed([]))
        #expect(try start(watch) == 42)
    }

    @Test("An etcd that was set up again or restored from a copy is watched from its present revision") func anotherEtcd() throws {
        for message in [created(500, cluster: "18446744073709551615"), created(3)] {
            var watch = EtcdWatch(user: "anna")
            _ = try watch.take(created(4))
            _ = try watch.take(changed([("circle/00000001", 7)]))
            #expect(try watch.take(message) == .beginAnew)
            #expect(try start(watch) == nil)
            #expect(try watch.take(message) == .changed([]))
        }
    }

    @Test("A watch that etcd ends reports the reason") func reasons() throws {
        for (text, kind) in [
            ("rpc error: code = PermissionDenied desc = etcdserver: permission denied", EtcdError.Kind.denied),
            ("etcdserver: invalid auth token", .unauthenticated), ("etcdserver: revision of auth store is old", .unauthenticated),
            ("etcdserver: user name is empty", .denied), ("etcdserver: no leader", .busy), ("", .busy),
        ] {
            var watch = EtcdWatch(user: "anna")
            let fault = #expect(throws: EtcdError.self) { try watch.take(ended("\"created\":true,\"cancel_reason\":\"\(text)\"")) }
            #expect(fault?.kind == kind, "\(text)")
        }
        var watch = EtcdWatch(user: "anna")
        let error = Array("{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"etcdserver: no leader\"}}".utf8)
        let fault = #expect(throws: EtcdError.self) { try watch.take(error) }
        #expect(fault?.kind == .busy)
    }

    @Test(
        "A message that etcd does not write is refused",
        arguments: [
            "", "{", "[]", "{}", "{\"result\":{}}", "{\"result\":{\"header\":{}}}", "{\"result\":{\"header\":{\"cluster_id\":7}}}",
            "{\"result\":{\"header\":{\"cluster_id\":\"7\",\"revision\":\"-1\"},\"created\":true}}",
            "{\"result\":{\"header\":{\"cluster_id\":\"7\"},\"events\":[{}]}}",
            "{\"result\":{\"header\":{\"cluster_id\":\"7\"},\"events\":[{\"kv\":{\"key\":\"not base64\",\"mod_revision\":\"1\"}}]}}",
            "{\"result\":{\"header\":{\"cluster_id\":\"7\"},\"events\":[{\"kv\":{\"key\":\"eA==\",\"mod_revision\":\"1\"}}]}}",
            "{\"result\":{\"header\":{\"cluster_id\":\"7\"},\"events\":[{\"kv\":{\"key\":\"eA==\"}}]}}",
        ]) func garbage(_ line: String)
    {
        var watch = EtcdWatch(user: "anna")
        let fault = #expect(throws: EtcdError.self) { try watch.take(Array(line.utf8)) }
        #expect(fault?.kind == .garbage)
    }

    @Test("Keys that are not files of the user are not reported") func foreignKeys() throws {
        var watch = EtcdWatch(user: "anna")
        _ = try watch.take(created(4))
        #expect(try watch.take(changed([("Circle/1", 7), ("circle/.x", 8), ("a/b/c/d/1", 9), ("1", 9), ("circle/\u{1b}[2J", 9)])) == .goOn)
        #expect(try start(watch) == 10)
    }

    @Test("Lines are joined from fragments of any size, and a line without an end is refused") func lines() throws {
        var lines = EtcdLines()
        var found: [[UInt8]] = []
        for byte in "ab\n\nc\n".utf8 { found += try lines.take([byte]) }
        #expect(found == [Array("ab".utf8), Array("c".utf8)])
        #expect(try lines.take(Array("d\ne\nf".utf8)) == [Array("d".utf8), Array("e".utf8)])
        #expect(try lines.take(Array("g\n".utf8)) == [Array("fg".utf8)])
        let part = [UInt8](repeating: 0x61, count: 1 << 20)
        for _ in 0..<4 { _ = try lines.take(part) }
        #expect(throws: EtcdError.garbage) { try lines.take(part) }
    }
}
