#!/usr/bin/env python3
"""What a script waits for: `vauban get` beside `secret-tool lookup`, in turns; an import of so many rows, and a list of them; and the memory
of all rooms, before and after.

  command_line.py [ITEMS [RUNS]]

Times are of whole processes, from their start to their end, by the clock of the one that starts them; every answer is compared with what was
stored. The keychain and each service are in a home and on a message bus of their own. The rooms cannot be inspected by their own user, so
only root is told their memory. VAUBAN_PROGRAM is the command line. What is missing here is said and left out.
"""
import contextlib, os, pathlib, resource, shutil, signal, statistics, subprocess, sys, time
from bench import GnomeKeyring
from secret_service import Vauban
from session import Session

SECRET = "tulips and rain 7"
ROOMS = 6
LISTS = 11


def timed(s, argv, is_right):
    """Milliseconds of a process, whose output must be right."""
    start = time.perf_counter_ns()
    r = subprocess.run(argv, env=s.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    took = (time.perf_counter_ns() - start) / 1e6
    if r.returncode or not is_right(r):
        raise RuntimeError(f"{' '.join(argv[:2])}: status {r.returncode}, or a wrong answer: {r.stderr[-300:]}")
    return took


def processes(home):
    """The launcher, whose lock file names it, and the rooms, which are its children."""
    launcher = int((home / "lock").read_text().split()[1])
    return [launcher] + [int(c) for c in pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()]


def show_memory(home, when):
    try:
        parts = [int(line.split()[1]) for pid in processes(home) for line in open(f"/proc/{pid}/smaps_rollup") if line.startswith("Pss:")]
    except PermissionError:
        print("memory: not measured, since only root can read it", flush=True)
        return
    print(f"memory {when}: {len(parts)} processes, {sum(parts) / 1024:.1f} MiB (Pss)", flush=True)


@contextlib.contextmanager
def gnome_keyring():
    """A session with gnome-keyring and one item."""
    peer = GnomeKeyring()
    with Session() as s:
        peer.prepare(s, 1)
        peer.start(s)
        yield s, ["secret-tool", "lookup", "service", "svc.bench.example", "account", "user-00000000"]


def measure_gets(s, vauban, runs):
    s.run([vauban.program, "set", "bench/anna"], input=SECRET).check_returncode()
    s.spawn([vauban.program, "secret-service", "--foreground"])
    of_item = ["service", "bench.bus", "account", "anna"]
    is_secret = lambda r: r.stdout.rstrip("\n") == SECRET
    kinds = [("vauban get", s, [vauban.program, "get", "bench/anna"], is_secret)]
    with contextlib.ExitStack() as stack:
        if shutil.which("secret-tool"):
            # The service is there once it stores.
            s.wait_for(lambda: s.run(["secret-tool", "store", "--label=bench", *of_item], input=SECRET).returncode == 0)
            kinds.append(("secret-tool lookup, Vauban's service", s, ["secret-tool", "lookup", *of_item], is_secret))
            if shutil.which("gnome-keyring-daemon"):
                g, lookup = stack.enter_context(gnome_keyring())
                g.wait_for(lambda: g.run(lookup).stdout != "")
                kept = g.run(lookup).stdout
                kinds.append(("secret-tool lookup, gnome-keyring", g, lookup, lambda r: r.stdout == kept))
            else:
                print("gnome-keyring: not measured, since there is no gnome-keyring-daemon (Debian: apt install gnome-keyring)", flush=True)
        else:
            print("secret-tool: not measured, since there is none (Debian: apt install libsecret-tools)", flush=True)
        times = [[] for _ in kinds]
        for _ in range(runs):
            for found, (_, session, argv, is_right) in zip(times, kinds):
                found.append(timed(session, argv, is_right))
    own = statistics.median(times[0])
    print(f"{'ms of ' + str(runs) + ' runs in turns':40}{'median':>10}{'shortest':>10}{'vauban get':>14}")
    for (name, *_), found in zip(kinds, times):
        median = statistics.median(found)
        print(f"{name:40}{median:>10.1f}{min(found):>10.1f}{own / median:>8.2f} times", flush=True)


def measure_import(s, vauban, items):
    rows = s.dir / "rows.csv"
    maker = pathlib.Path(__file__).resolve().parents[2] / "scripts/make-csv"
    with open(rows, "wb") as out:
        subprocess.run([maker, str(items)], stdout=out, check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = timed(s, [vauban.program, "import", str(rows)], lambda r: f"{items} added, 0 already exist" in r.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"import of {items} rows: {took / 1000:.2f} s, of which the command itself computes {own:.2f} s", flush=True)
    lists = [timed(s, [vauban.program, "list"], lambda r: r.stdout.count("\n") >= items) for _ in range(LISTS)]
    print(f"list of {items}: median of {LISTS} {statistics.median(lists) / 1000:.3f} s, longest {max(lists) / 1000:.3f} s", flush=True)


def main():
    numbers = [int(word) for word in sys.argv[1:]]
    items, runs = (numbers + [10_000, 300][len(numbers):])[:2]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that sessions are closed and their daemons stopped
    vauban = Vauban()
    try:
        with Session() as s:
            home = s.dir / "keychain"
            s.env["VAUBAN_HOME"] = str(home)
            try:
                vauban.vauban(s, "setup")
                vauban.vauban(s, "unlock")
                s.wait_for(lambda: len(processes(home)) > ROOMS)
                measure_gets(s, vauban, runs)
                show_memory(home, "with an open keychain")
                measure_import(s, vauban, items)
                show_memory(home, f"after {items} items were imported and listed")
            finally:
                vauban.end(s)
    finally:
        shutil.rmtree(vauban.kept, ignore_errors=True)


if __name__ == "__main__":
    main()
