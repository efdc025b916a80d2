"""Processor time from the start of a process to its end, with the file on disk, as ratios: the least of three runs of each."""
import os
import subprocess

from ..machine import Failure
from ..tables import ratio
from ..vela import Compiled

NAME = "compile-time"
TIMED = True
PEERS = ["ethos-u-vela"]
HEADINGS = ["model", "Vela / Intarsia, processor time from start to file"]
RUNS = 3


def seconds(command):
    """What the process and those that it waited for took of processors."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failure(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def least_seconds(command):
    return min(seconds(command) for _ in range(RUNS))


def make(machine, options):
    rows = []
    for model in options.models:
        ours = [machine.intarsia, "compile", model.path, "--target", options.npus[0], "-o", machine.folder() / "package"]
        try:
            machine.json(*ours[1:])
        except Failure:
            continue
        theirs = None
        if machine.vela:
            vela = Compiled(machine, model.path, options.npus[0], "shared-sram")
            theirs = None if vela.error else least_seconds(vela.command)
        rows.append([model.name, ratio(theirs, least_seconds(ours))])
    return rows, [f"Both for {options.npus[0]}, shared-sram."]
