import Testing
import VaubanEtcd
import VaubanSyncCarrierWire

/// Accounts, errors of etcd, and the messages between `vauban sync` and the program with the network.
@Suite struct EtcdAccountTests {
    @Test("An account names a user and endpoints") func accountNamesAUserAndEndpoints() throws {
        let account = try EtcdAccount(
            "# of the office\nuser anna\nendpoint https://a.example:2379\n\nendpoint https://[2001:db8::1]:2379\n")
        #expect(account.user == "anna" && account.isSecure)
        #expect(account.ports == [53, 2379])
        #expect(account.description == "anna at https://a.example:2379, https://[2001:db8::1]:2379")
    }

    @Test(
        "Without encryption only endpoints on this machine are accepted",
        arguments: [
            ("http://127.0.0.1:2379", true), ("http://[::1]:2379", true), ("http://localhost:2379", false),
            ("http://192.0.2.1:2379", false),
            ("http://localhost.example:2379", false), ("http://127.0.0.1.example:2379", false),
            ("http://127.0.0.1@evil.example:2379", false),
        ]) func plainEndpoints(_ text: String, _ isTaken: Bool)
    {
        let endpoint = try? EtcdEndpoint(text)
        #expect((endpoint != nil) == isTaken)
    }

    @Test(
        "Malformed endpoints are refused",
        arguments: [
            "", "a:2379", "ftp://a:2379", "https://a", "https://a:0", "https://a:65536", "https://a:+1", "https://a:02379", "https://:2379",
            "https://a/b:2379", "https://a:2379/", "https://a b:2379", "https://u:p@a:2379", "https://-a:2379", "https://[a]:2379",
            "https://ä:2379",
        ]) func malformedEndpoints(_ text: String)
    {
        #expect(throws: EtcdError.self) { try EtcdEndpoint(text) }
    }

    @Test(
        "Malformed accounts are refused",
        arguments: [
            "endpoint https://a:1", "user anna", "user anna\nuser bert\nendpoint https://a:1", "user root\nendpoint https://a:1",
            "user anna/../bert\nendpoint https://a:1", "user Anna\nendpoint https://a:1",
            "user anna\nendpoint https://a:1\nendpoint https://a:1", "user -anna\nendpoint https://a:1",
            "user \(String(repeating: "a", count: 65))\nendpoint https://a:1",
            "user anna\nendpoint https://a:1\nendpoint http://127.0.0.1:1",
            "user anna\npassword x\nendpoint https://a:1", "user anna x\nendpoint https://a:1",
        ]) func malformedAccounts(_ text: String)
    {
        #expect(throws: EtcdError.self) { try EtcdAccount(text) }
    }

    @Test("Each error of etcd has its own message, without characters that a terminal interprets") func errors() {
        func fault(_ code: Int, _ text: String) -> EtcdError {
            EtcdReply(Array("{\"error\":\"\(text)\",\"message\":\"\(text)\",\"code\":\(code)}".utf8)).fault()
        }
        #expect(fault(16, "etcdserver: invalid auth token").kind == .unauthenticated)
        #expect(fault(3, "etcdserver: revision of auth store is old").kind == .unauthenticated)
        #expect(fault(3, "etcdserver: authentication failed, invalid user ID or password").kind == .denied)
        #expect(fault(3, "etcdserver: user name is empty").kind == .denied)
        #expect(fault(9, "etcdserver: authentication is not enabled").kind == .denied)
        #expect(fault(7, "etcdserver: permission denied").kind == .denied)
        #expect(fault(8, "etcdserver: mvcc: database space exceeded").kind == .full)
        #expect(fault(8, "etcdserver: mvcc: database space exceeded").text.contains("etcdctl alarm disarm"))
        #expect(fault(14, "etcdserver: request timed out").mayPass)
        #expect(fault(9, "etcdserver: rpc not supported for learner").kind == .busy)
        #expect(!fault(11, "etcdserver: mvcc: required revision has been compacted").mayPass)
        #expect(fault(5, "a\\u001b[2Jb\\n\(String(repeating: "c", count: 900))").text.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(EtcdReply(Array("<html>502</html>".utf8)).fault() == .garbage)
    }

    @Test("Requests to the carrier decode to what was encoded") func requestsDecodeToWhatWasEncoded() throws {
        for operation in CarrierRequest.Operation.allCases {
            let file: [UInt8] = [.add, .replace, .addUnless].contains(operation) ? [1, 2, 3] : []
            let other = [.readUnless, .addUnless].contains(operation) ? CarrierRequest.File(section: "circle", name: "00000003") : nil
            let section = [.watch, .revision].contains(operation) ? "" : "devices/00ff"
            let name = [.names, .watch, .revision].contains(operation) ? "" : "00000001"
            let request = try #require(CarrierRequest(operation, section: section, name: name, unless: other, file: file))
            #expect(CarrierRequest(bytes: request.bytes) == request)
        }
        let replies: [CarrierReply] = [
            .ready("anna at x"), .done, .names(["1", "ab.2"]), .names([]), .file([0, 1]), .file([]), .absent, .taken,
            .refused(.full, "why"), .changed([]), .changed(["circle", "devices/00ff"]), .present,
            .revision(cluster: .max, revision: 1), .revision(cluster: 7, revision: .max),
        ]
        for reply in replies { #expect(CarrierReply(bytes: reply.bytes) == reply) }
    }

    @Test("Malformed messages are refused") func malformedMessagesAreRefused() {
        for (section, name) in [
            ("", "1"), ("a/b/c/d", "1"), ("../a", "1"), ("a/", "1"), ("A", "1"), ("circle", ""), ("circle", ".1"), ("circle", "a/b"),
            ("circle", "ä"), ("circle", String(repeating: "1", count: 65)), (String(repeating: "a", count: 101), "1"),
        ] { #expect(CarrierRequest(.read, section: section, name: name) == nil, "\(section) \(name)") }
        #expect(
            CarrierRequest(.read, section: "circle", name: "1", file: [1]) == nil
                && CarrierRequest(.names, section: "circle", name: "1") == nil)
        #expect(
            CarrierRequest(.add, section: "circle", name: "1", file: [UInt8](repeating: 0, count: CarrierGrammar.fileBytesMax + 1)) == nil)
        #expect(CarrierRequest(.revision, section: "circle") == nil && CarrierRequest(.revision, section: "", name: "1") == nil)
        #expect(CarrierRequest(.watch, section: "circle") == nil && CarrierRequest(.watch, section: "", name: "1") == nil)
        for bytes: [UInt8] in [
            [], [9], [2], [6], [6, 0, 0, 1], [2, 200, 1], [2, 1, 0x61], [2, 1, 0x61, 1, 0x2F], [2, 1, 0xFF, 1, 0x61],
        ] {
            #expect(CarrierRequest(bytes: bytes) == nil)
        }
        let replies: [[UInt8]] = [
            [], [9], [1, 1], [4, 0], [2, 5, 0x61], [2, 1, 0x2F], [2, 0], [6], [6, 9, 0x61], [0, 0xFF], [7, 1], [7, 0], [7, 1, 0x2F],
            [9] + [UInt8](repeating: 1, count: 15), [9] + [UInt8](repeating: 1, count: 17), [9] + [UInt8](repeating: 0, count: 16),
            [9] + [UInt8](repeating: 0xFF, count: 16),
        ]
        for bytes in replies {
            #expect(CarrierReply(bytes: bytes) == nil)
        }
    }
}
