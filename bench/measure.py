"""Running a program and counting what it takes: processor time and memory.

Programs that are compared get their turn in each round, so that a busy machine
is busy for all of them. What counts is the ratio within one table.
"""

import os
import platform
import statistics
import subprocess
import sys


def say(text):
    print(text, file=sys.stderr, flush=True)


def child(command, data):
    """Processor seconds, peak memory in bytes, exit status and bytes written."""
    with open(data, "rb") as stdin:
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        written = 0
        while chunk := process.stdout.read(1 << 16):
            written += len(chunk)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if platform.system() == "Darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, process.returncode, written


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


class Floor:
    """A child starts as a copy of this process, which counts as its memory."""

    def __init__(self):
        self.bytes = child(["true"], os.devnull)[1] * 1.05

    def megabytes(self, peak):
        return f"{peak / 1e6:.0f}" if peak > self.bytes else f"< {self.bytes / 1e6:.0f}"


def table(rows, base, floor):
    """Medians and the ratio to ours: `base` gives the row that one is compared with."""
    yield "| command | median CPU s | spread | MB/s | peak MB | output MB | times ours |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        note = f" (exit {row.status})" if row.status else ""
        yield (f"| {row.name}{note} | {row.median:.3f} | {row.spread} | {row.size / 1e6 / row.median:.3g} "
               f"| {floor.megabytes(row.peak)} | {row.written / 1e6:.1f} | {row.median / base(row).median:.2g} |")


def verdict(others, base, floor):
    """Where we are not ahead. One that failed is not compared."""
    ended = [row.name for row in others if row.status]
    others = [row for row in others if not row.status]
    for row in others:
        if row.median < base(row).median:
            yield f"Not ahead: {row.name} takes less time, by a factor of {base(row).median / row.median:.2f}."
    leaner = [row.name for row in others if row.peak < base(row).peak > floor.bytes]
    if leaner:
        yield f"Not ahead in memory: {', '.join(leaner)}."
    if ended:
        yield f"Did not come to its end: {', '.join(ended)}."
