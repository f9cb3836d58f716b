"""Measures the processor time and memory of programs.

The compared programs run in turns, so that the load of the machine affects all of
them. Only the ratios within a table are meaningful.
"""

import ctypes
import os
import platform
import statistics
import subprocess
import sys


def say(text):
    print(text, file=sys.stderr, flush=True)


# Starts the program from a shell, which is small: Linux counts the memory of the
# parent process at the start as that of the program.
ORPHAN = ["sh", "-c", 'exec 3<&0; "$@" <&3 3<&- &', "sh"]
PR_SET_CHILD_SUBREAPER = 36


def child(command, data):
    """Returns processor seconds, peak memory in bytes, exit status and bytes written."""
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
    """One program on one input, with the results of all rounds."""

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
    """Yields the table of medians and ratios; `base` returns the row to compare with."""
    yield "| command | median CPU s | spread | MB/s | peak MB | output MB | times ours |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        note = f" (exit {row.status})" if row.status else ""
        yield (f"| {row.name}{note} | {row.median:.3f} | {row.spread} | {row.size / 1e6 / row.median:.3g} "
               f"| {row.peak / 1e6:.0f} | {row.written / 1e6:.1f} | {row.median / base(row).median:.2g} |")


def verdict(others, base):
    """Yields the programs that are faster or leaner than ours, and those that failed."""
    ended = [row.name for row in others if row.status]
    others = [row for row in others if not row.status]
    for row in others:
        if row.median < base(row).median:
            yield f"Faster than us: {row.name}, by a factor of {base(row).median / row.median:.2f}."
    leaner = [row.name for row in others if row.peak < base(row).peak]
    if leaner:
        yield f"Less memory than us: {', '.join(leaner)}."
    if ended:
        yield f"Failed: {', '.join(ended)}."
