"""From the start of a process to the file on disk, as ratios: whole processes, the least of three runs of each."""
import subprocess
import time

from ..machine import Failure
from ..tables import ratio
from ..vela import Compiled

NAME = "compile-time"
TIMED = True
PEERS = ["ethos-u-vela"]
HEADINGS = ["model", "Vela / Intarsia, seconds from start to file"]
RUNS = 3


def least_seconds(command):
    least = None
    for _ in range(RUNS):
        begin = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        took = time.monotonic() - begin
        least = took if least is None else min(least, took)
    return least


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
