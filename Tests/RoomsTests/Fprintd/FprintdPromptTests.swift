import Foundation
import Glibc
import TestSupport
import Testing

extension FprintdTests {
    @Suite struct Prompts {
        /// SECURITY.md states what fprintd does not guarantee.
        @Test(
            "A match opens the item and changes no template, and no room stores a template", .provesEquivalent("C-049", "C-050"))
        func match() throws {
            let stage = try FprintdStage()
            let template = try #require(stage.templates.first)
            let before = try Data(contentsOf: URL(fileURLWithPath: template))
            try stage.read(
                """
                expect Touch the fingerprint reader, or type your Vauban passcode.
                touch SCAN alice
                expect the secret
                """)
            try stage.read("expect Touch the fingerprint reader\ntouch SCAN bob, RETRY 0, SCAN alice\nexpect the secret")
            try stage.read("expect Touch the fingerprint reader\nearly SCAN alice\nexpect the secret")
            #expect(stage.templates == [template])
            #expect(try Data(contentsOf: URL(fileURLWithPath: template)) == before)
            let folder = try FileManager.default.attributesOfItem(atPath: "\(stage.folder)/fprint")
            #expect(folder[.ownerAccountID] as? UInt32 == geteuid() && folder[.posixPermissions] as? Int == 0o700)
            let security = try String(contentsOfFile: "\(FprintdBus.root)/SECURITY.md", encoding: .utf8)
            #expect(security.contains("fprintd stores templates in files of root, or in the sensor"))
            #expect(security.contains("a match changes no template"))
            let name = Data("virtual_device".utf8)
            #expect(before.range(of: name) != nil)
            for room in ["enclave", "keychain", "reader"] {
                let files = FileManager.default.enumerator(atPath: "\(stage.rooms.home)/\(room)")?.compactMap { $0 as? String } ?? []
                #expect(!files.isEmpty)
                for file in files {
                    let content = FileManager.default.contents(atPath: "\(stage.rooms.home)/\(room)/\(file)") ?? Data()
                    #expect(content.range(of: name) == nil, "\(file) of \(room) has something of the template")
                }
            }
        }

        @Test(
            "With fprintd, three misses end the fingerprint of a prompt, and five end all until the passcode",
            .proves("C-137", "C-138", "C-139", "C-140", "C-141", "C-148"))
        func misses() throws {
            let stage = try FprintdStage()
            // A match in between does not reset the misses.
            try stage.read("expect Touch the fingerprint reader\ntouch SCAN bob, SCAN alice\nexpect the secret")
            try stage.read(
                """
                expect Touch the fingerprint reader
                touch SCAN bob, SCAN bob, SCAN bob
                expect Passcode (
                key ctrl-c
                """, endsWith: 128)
            try stage.awaitStatus("1 more may fail")
            try stage.read("expect Touch the fingerprint reader\ntouch SCAN bob\nexpect Passcode (\nkey ctrl-c", endsWith: 128)
            try stage.readByPasscode("absent Touch the fingerprint reader")
            try stage.readByFinger()
        }

        @Test("An error of the sensor does not end the prompt") func sensorError() throws {
            let stage = try FprintdStage()
            try stage.read("expect Touch the fingerprint reader\ntouch ERROR 1, SCAN alice\nexpect the secret")
        }

        @Test("A prompt waits for the sensor while another program has it") func otherProgram() throws {
            let stage = try FprintdStage()
            let holder = try stage.bus.perform("hold")
            let log = "\(stage.rooms.home)/vauban.log"
            // The other program releases the sensor after the reader was refused it.
            try stage.read(
                """
                expect Touch the fingerprint reader
                run timeout 240 tail -n +1 -F '\(log)' 2>/dev/null | grep -q -m 1 'another program has the sensor' && kill \(holder)
                touch SCAN alice
                expect the secret
                """)
        }

        @Test("Two callers at the same time get two prompts, and each prompt takes one touch") func twoCallers() throws {
            let stage = try FprintdStage()
            let callers = try (0..<2).map { _ in try stage.playing(["get", "bank/me"], "expect the secret") }
            #expect(try stage.touching(["SCAN alice", "SCAN alice"]).ended().status == 0)
            for caller in callers { #expect(try caller.ended().status == 0, "\(stage.log)") }
        }

        @Test("A prompt continues with the passcode when the reader is killed, and the next reader works") func killedReader() throws {
            let stage = try FprintdStage()
            try stage.readByPasscode("expect Touch the fingerprint reader\nrun kill -KILL \(try stage.reader())")
            try stage.awaitStatus(FprintdStage.present)
            try stage.readByFinger()
        }

        @Test("A prompt continues with the passcode when fprintd is killed, and the reader returns with the next one")
        func killedFprintd() throws {
            let stage = try FprintdStage()
            try stage.readByPasscode("expect Touch the fingerprint reader\nrun kill -KILL \(try stage.fprintd())")
            try stage.awaitStatus(FprintdStage.missing)
            try stage.bus.perform("start_fprintd")
            try stage.awaitStatus(FprintdStage.present)
        }

        @Test("A prompt continues with the passcode when the sensor is unplugged, and the reader returns with the sensor")
        func unplugged() throws {
            let stage = try FprintdStage()
            try stage.readByPasscode("expect Touch the fingerprint reader\ntouch UNPLUG")
            try stage.awaitStatus(FprintdStage.missing)
            try stage.bus.perform("stop_fprintd")
            try stage.bus.perform("start_fprintd")
            try stage.awaitStatus(FprintdStage.present)
        }
    }
}
