"""The tables, in milliseconds: report.py finger VERIFY TOUCH READ | report.py window WINDOW ASK. For `run`."""
import sys


def numbers(path):
    with open(path) as file:
        return [[int(word) for word in line.split()] for line in file]


def quantile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] / 1e6


def row(name, times, floor=None):
    median = quantile(times, 0.5)
    beside = "" if floor is None else f"{median - floor:+12.2f}{median / floor:10.2f}"
    print(f"  {name:58}{median:10.2f}{quantile(times, 0.99):10.2f}{beside}")
    return median


def head(what, count):
    print(f"\n{what}; {count} of each; milliseconds\n\n  {'':58}{'median':>10}{'p99':>10}{'over it':>12}{'ratio':>10}")


kind, *files = sys.argv[1:]
first, *rest = [numbers(path) for path in files]
if kind == "finger":
    touches, reads = rest[0], [line[0] for line in rest[1]]
    assert len(first) == len(touches) == len(reads)
    head("A touch of a finger that is known", len(reads))
    floor = row("floor: fprintd's own verify, heard by who asked", [heard - touched for touched, heard in first])
    row("fprintd's word on it, heard by a bystander", [heard - touched for touched, heard in touches], floor)
    row("the secret in the caller's hands", [read - touched for read, (touched, _) in zip(reads, touches)], floor)
    row("  of that, after the bystander heard it", [read - heard for read, (_, heard) in zip(reads, touches)])
else:
    asks = rest[0]
    head("A prompt on a display", len(asks))
    mapped = row("floor: the least GTK window, on the screen", [line[0] for line in first])
    row("request to sheet, on the screen", [line[0] for line in asks], mapped)
    drawn = row("floor: the least GTK window, drawn", [line[1] for line in first])
    row("request to sheet, drawn", [line[1] for line in asks], drawn)
    print(f"\n  The first of each after its start, drawn: {first[0][1] / 1e6:.1f} and {asks[0][1] / 1e6:.1f}")
