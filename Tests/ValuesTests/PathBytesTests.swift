import Testing
import VaubanAccessPolicy
import VaubanPlainText

/// Paths and names are compared as the kernel's bytes, and displayed so that no two of them look alike.
@Suite struct PathBytesTests {
    @Test("The kernel's suffix for a deleted file is recognized after any bytes")
    func deletedFiles() {
        // Each of these characters combines with the following space, or with the preceding bracket, to one character.
        for sign in ["", "\u{600}", "\u{601}", "\u{110BD}", "\u{200D}", "\u{301}", "e\u{301}"] {
            #expect(PathBytes.isDeleted("/home/anna/tool\(sign) (deleted)"), "\(sign.unicodeScalars)")
        }
        #expect(!"/home/anna/tool\u{600} (deleted)".hasSuffix(" (deleted)"))
        #expect(!PathBytes.isDeleted("/home/anna/tool (deleted)\u{301}") && !PathBytes.isDeleted("(deleted)") && !PathBytes.isDeleted(""))
    }

    @Test("An unlinked file had a path, and a memory file had none")
    func pathsBeforeDeletion() {
        for path in ["/usr/bin/tool", "/home/anna/tool\u{600}", "/home/anna/tool (deleted)"] {
            #expect(PathBytes.pathBeforeDeletion("\(path) (deleted)").map { Array($0.utf8) } == Array(path.utf8))
        }
        for path in ["/usr/bin/tool", "/memfd:tool (deleted)", "/memfd:/usr/bin/tool (deleted)", ""] {
            #expect(PathBytes.pathBeforeDeletion(path) == nil, "\(path)")
        }
    }

    @Test("A path is split at every slash")
    func parts() {
        #expect(PathBytes.parts(of: "/a/\u{301}b").map { [$0.folder, $0.name] } == ["/a", "\u{301}b"])
        #expect(PathBytes.parts(of: "/\u{301}b").map { [$0.folder, $0.name] } == ["/", "\u{301}b"])
        #expect(PathBytes.name(of: "/usr/bin/\u{301}python3") == "\u{301}python3")
        #expect(PathBytes.names(in: "/a/\u{20DD}b//c").map { Array($0.utf8) } == ["", "a", "\u{20DD}b", "", "c"].map { Array($0.utf8) })
        for none in ["", "a", "a/b", "/", "/a/"] { #expect(PathBytes.parts(of: none) == nil, "\(none)") }
        #expect(PathBytes.name(of: "program") == "program" && PathBytes.name(of: "/a/") == "")
    }

    @Test("Every path has a folder, one without a slash too")
    func splitPaths() {
        let samples = [
            ("x", ".", "x"), (".", ".", "."), ("x/", ".", "x"), ("~", ".", "~"), ("/", "/", ""), ("", ".", ""), ("//", "/", ""),
            ("/x", "/", "x"), ("//x//", "/", "x"), ("./x", ".", "x"), ("a//b", "a", "b"), ("a/b/", "a", "b"), ("/a/b", "/a", "b"),
            ("/a/\u{301}b", "/a", "\u{301}b"), ("a/\u{301}", "a", "\u{301}"),
        ]
        for (path, folder, name) in samples {
            let parts = PathBytes.split(path)
            #expect(parts.folder.isSameBytes(as: folder) && parts.name.isSameBytes(as: name), "\(path): \(parts)")
        }
    }

    @Test("Two encodings of a letter are two names")
    func spellings() {
        let (composed, decomposed) = ("/usr/bin/caf\u{E9}", "/usr/bin/cafe\u{301}")
        #expect(composed == decomposed && !composed.isSameBytes(as: decomposed))
        #expect(ApplicationIdentifier.installed(path: composed) != .installed(path: decomposed))
        #expect(Set([ApplicationIdentifier.installed(path: composed), .installed(path: decomposed)]).count == 2)
        #expect(!"\u{E9}x".hasBytePrefix("e\u{301}") && !"x\u{E9}".hasByteSuffix("e\u{301}") && "a/\u{301}b".hasBytePrefix("a/"))
        #expect("program:\u{301}/x".dropping(bytePrefix: "program:").map { Array($0.utf8) } == Array("\u{301}/x".utf8))
    }

    @Test("Different paths are displayed differently and sorted by name")
    func shown() {
        let paths = [
            "/usr/bin/caf\u{E9}", "/usr/bin/cafe\u{301}", "/usr/bin/cafe", "/usr/bin/cafe\u{200B}", "/usr/bin/cafe\u{600}",
            "/usr/bin/cafe\u{1}",
            "/usr/bin/cafe\u{202E}", "/usr/bin/cafe\u{2066}", "/usr/bin/\u{338}cafe", "/usr/bin/cafe\u{5D0}", "/usr/bin/cafe ",
            "/usr/bin/cafe\u{A0}",
            "/usr/bin/cafe\u{3164}", "/usr/bin/cafe\u{7F}", "/usr/bin/cafe\n", "/usr/bin/cafe\u{9B}", "/usr/bin/cafe\u{E0061}",
        ]
        let shown = paths.map { PlainLine.path($0, charactersMax: 160) }
        #expect(Set(shown.map { Array($0.utf8) }).count == paths.count)
        for text in shown.dropFirst() {
            #expect(text.unicodeScalars.allSatisfy { $0.isASCII }, "\(text)")
        }
        #expect(shown[0] == "/usr/bin/caf\u{E9}" && shown[1] == "/usr/bin/cafe\\u{301}" && shown[8] == "/usr/bin/\\u{338}cafe")
        #expect(PlainLine.path("/home/\u{5D0}\u{5D1}/x", charactersMax: 160) == "/home/\\u{5d0}\\u{5d1}/x")
        // Marks of other scripts stay on letters of their script.
        #expect(PlainLine.path("/home/\u{939}\u{93F}", charactersMax: 160) == "/home/\u{939}\u{93F}")
        // The name of an item is not a path: it keeps its script, and loses nothing else.
        #expect(PlainLine.name("\u{5D0}\u{202E}/anna", charactersMax: 160) == "\u{5D0}\\u{202e}/anna")
    }
}
