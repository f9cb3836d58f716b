"""Running a program and counting what it takes: processor time and memory.

Programs that are compared get their turn in each round, so that a busy machine
is busy for all of them. What counts is the ratio within one table.
"""

import ctypes
import os
import platform
import statistics
import subprocess
import sys


def say(text):
    print(text, file=sys.stderr, flush=True)


# Starts a program from a shell, which is small, and leaves it to us: Linux counts
# the memory of who starts a program as that of the program.
ORPHAN = ["sh", "-c", 'exec 3<&0; "$@" <&3 3<&- &', "sh"]
PR_SET_CHILD_SUBREAPER = 36


def child(command, data):
    """Processor seconds, peak memory in bytes, exit status and bytes written."""
    linux = platform.system() == "Linux"
    if linux and ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("this process cannot become the parent of what it measures")
    with open(data, "rb") as stdin:
        start = subprocess.Popen([*(ORPHAN if linux else []), *map(str, command)], stdin=stdin,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if linux:
            start.wait()
        written = 0
        while chunk := start.stdout.read(1 << 16):
            written += len(chunk)
        _, status, usage = os.wait4(-1 if linux else start.pid, 0)
        start.returncode = code = os.waitstatus_to_exitcode(status)
        start.stdout.close()
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1024 if linux else 1), code, written


class Row:
    """One program on one input, and all its rounds."""

    def __init__(self, name, command, data, size=None):
        self.name, self.command, self.data = name, command, data
        self.size = size or os.path.getsize(data)
        self.times, self.peak, self.status, self.written = [], 0, 0, 0

    def round(self):
        seconds, peak, self.status, self.written = child(self.command, self.data)
        self.times.append(seconds)
        self.peak = max(self.peak, peak)

    @property
    def median(self):
        return statistics.median(self.times)

    @property
    def spread(self):
        return f"{min(self.times):.3f}–{max(self.times):.3f}"


def in_turns(rows, rounds):
    for number in range(rounds):
        say(f"  round {number + 1} of {rounds}")
        for row in rows:
            row.round()


def table(rows, base):
    """Medians and the ratio to ours: `base` gives the row that one is compared with."""
    yield "| command | median CPU s | spread | MB/s | peak MB | output MB | times ours |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        note = f" (exit {row.status})" if row.status else ""
        yield (f"| {row.name}{note} | {row.median:.3f} | {row.spread} | {row.size / 1e6 / row.median:.3g} "
               f"| {row.peak / 1e6:.0f} | {row.written / 1e6:.1f} | {row.median / base(row).median:.2g} |")


def verdict(others, base):
    """Where we are not ahead. One that failed is not compared."""
    ended = [row.name for row in others if row.status]
    others = [row for row in others if not row.status]
    for row in others:
        if row.median < base(row).median:
            yield f"Not ahead: {row.name} takes less time, by a factor of {base(row).median / row.median:.2f}."
    leaner = [row.name for row in others if row.peak < base(row).peak]
    if leaner:
        yield f"Not ahead in memory: {', '.join(leaner)}."
    if ended:
        yield f"Did not come to its end: {', '.join(ended)}."
