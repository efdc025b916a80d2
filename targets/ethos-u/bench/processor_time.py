#!/usr/bin/env python3
"""Processor time, ours beside what it is compared with: compiling for one NPU beside Arm's Vela, whole processes
both, and one inference on the simulator, checker on, beside half a second. Each of ours is the least of several runs.

  processor_time.py --intarsia build/bench/bin/intarsia --measure build/bench/.../bench_ethos_u [--npu TAG]

Models are looked for beside the repository or under $INTARSIA_SHARED, and in tests/golden/models. Vela comes from PyPI
into the virtual environment of against_vela.py; without it the seconds recorded in reference/BASELINE.md are taken, and
a line says so. With --alone there are only our own.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

from against_vela import VELAS, VELA_MODE, VELA_SYSTEM, Vela

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("INTARSIA_SHARED", ROOT.parent / "shared"))
MODELS = {"kws": "kws_ref_model", "vww": "vww_96_int8", "resnet": "pretrainedResnet_quant", "ad01": "ad01_int8"}
SIMULATION_LIMIT_MS = 500


def folder_of(model):
    name = MODELS.get(model, model)
    for folder in (SHARED / "models" / name, ROOT / "tests/golden/models" / name):
        if (folder / "model.tflite").exists():
            return folder
    raise SystemExit(f"there is no model {name}: set INTARSIA_SHARED, or name others with --models")


def seconds(command):
    """Processor time of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def recorded_seconds():
    """The row of the reference that has Vela's seconds, by model."""
    for line in (SHARED / "reference/BASELINE.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 5 and cells[1] == "compile, CPU seconds":
            return dict(zip(MODELS, map(float, cells[2:6])))
    raise SystemExit("the reference has no seconds of Vela's")


def vela_seconds(vela, model, npu, folder):
    return seconds([vela.program, model, "--accelerator-config", npu, "--config", vela.config, "--system-config",
                    VELA_SYSTEM[npu[:9]], "--memory-mode", VELA_MODE["shared-sram"], "--output-dir", folder])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--intarsia", required=True, type=pathlib.Path)
    parser.add_argument("--measure", required=True, help="the program bench_ethos_u")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/against-vela"))
    parser.add_argument("--npu", default="ethos-u55-128", choices=[f"ethos-u55-{macs}" for macs in (32, 64, 128, 256)])
    parser.add_argument("--recorded", action="store_true", help="do not run Vela")
    parser.add_argument("--alone", action="store_true", help="neither run Vela nor take its recorded seconds")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    folders = {name: folder_of(name) for name in arguments.models}

    vela = None
    if not arguments.recorded and not arguments.alone:
        try:
            vela = Vela("3.10.0", VELAS["3.10.0"], arguments.work.resolve())
        except (subprocess.CalledProcessError, StopIteration, OSError) as failure:
            print(f"Vela cannot be had here, its seconds are the recorded ones: {failure}", file=sys.stderr)
    recorded = {} if vela or arguments.alone else recorded_seconds()

    how = "alone" if arguments.alone else "side by side" if vela else "Vela as recorded"
    print(f"{'compile':10} {'ours':>9} {'Vela':>9}  ratio   ({how})")
    with tempfile.TemporaryDirectory() as folder:
        for name, directory in folders.items():
            model = directory / "model.tflite"
            ours = min(seconds([arguments.intarsia, "compile", model, "--target", arguments.npu, "-o",
                                f"{folder}/{name}"]) for _ in range(arguments.runs))
            theirs = vela_seconds(vela, model, arguments.npu, folder) if vela else recorded.get(name)
            beside = f" {theirs:7.2f} s  {theirs / ours:5.1f}x" if theirs else ""
            print(f"{name:10} {1000 * ours:6.0f} ms{beside}", flush=True)

    print(f"\n{'simulate':10} {'ours':>9} {'limit':>9}  ratio   (checker on)")
    for name, directory in folders.items():
        command = [arguments.measure, "simulate", directory / "model.tflite", arguments.npu, "shared-sram",
                   directory / "in0_0.bin"]
        ours = min(json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["simulate_ms"]
                   for _ in range(arguments.runs))
        print(f"{name:10} {ours:6.0f} ms {SIMULATION_LIMIT_MS:6} ms  {SIMULATION_LIMIT_MS / ours:5.1f}x", flush=True)


if __name__ == "__main__":
    main()
