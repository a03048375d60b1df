internal import VaubanPlainText

/// Programs that run code written by others, by file name: their identity says nothing about what they do. A star at the end stands for any
/// suffix. Specs/caller-identity.md has the same tables, and a test compares them.
package enum InterpreterNames {
    /// The names by kind, as in the specification.
    package static let table: [(kind: String, names: [String])] = [
        ("shells", words("sh bash rbash dash ash zsh* fish ksh* mksh lksh yash tcsh csh busybox toybox nu elvish xonsh pwsh")),
        (
            "languages",
            words(
                """
                python* pypy* perl* ruby* jruby node nodejs deno bun lua* php* tclsh* wish* guile* java dotnet mono* Rscript R julia* \
                erl* beam.smp escript elixir iex groovy scala* kotlin* swift* ghci* runghc* ocaml* sbcl clisp racket gosh chicken-csi \
                octave* sqlite3 gjs* cjs* seed qml* osascript awk gawk mawk nawk original-awk sed ed bc dc m4 gs
                """)
        ),
        ("editors", words("emacs* vim* nvim vi view ex nano micro helix hx kak")),
        ("loaders and emulators", words("ld.so ld-linux* ld-musl-* qemu-* wine* box64 box86 electron*")),
        ("debuggers", words("gdb* lldb* strace ltrace perf bpftrace rr valgrind* uftrace")),
        (
            "starters of others",
            words(
                """
                env xargs find fd fdfind make gmake bmake ninja* just git script scriptreplay expect nohup timeout nice ionice setsid \
                stdbuf time watch parallel entr flock chrt taskset sudo su doas runuser pkexec setpriv capsh unshare nsenter chroot \
                bwrap firejail systemd-run ssh sshd* tmux* screen* socat ncat
                """)
        ),
    ]

    private static let whole = Set(table.flatMap(\.names).filter { !$0.hasByteSuffix("*") })
    private static let beginnings = table.flatMap(\.names).filter { $0.hasByteSuffix("*") }.map { String($0.dropLast()) }

    package static func contain(_ name: String) -> Bool { whole.contains(name) || beginnings.contains { name.hasBytePrefix($0) } }

    static func words(_ text: String) -> [String] { text.split(whereSeparator: \.isWhitespace).map(String.init) }
}

/// Programs that adopt orphans or are the ancestors of everything: as a parent they say nothing about who started a process.
package enum ServiceManagerNames {
    package static let names = InterpreterNames.words(
        """
        systemd init upstart openrc-init openrc-run supervise-daemon dinit runit runit-init runsv runsvdir s6-svscan s6-supervise \
        s6-linux-init shepherd tini tini-static docker-init dumb-init catatonit conmon containerd-shim* reaper cron crond atd
        """)

    package static func contain(_ name: String) -> Bool {
        names.contains { $0.hasByteSuffix("*") ? name.hasBytePrefix($0.dropLast()) : name.isSameBytes(as: $0) }
    }
}
