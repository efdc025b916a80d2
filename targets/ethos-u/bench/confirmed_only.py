#!/usr/bin/env python3
"""What it costs to keep to the encodings that Arm's streams confirm (-confirmed-only=true): cycles of each model and
NPU in its usual memory mode without and with it, as a table in Markdown.

  confirmed_only.py --measure build/bench/.../bench_ethos_u [--npu TAG...] MODEL.tflite...
"""
import argparse
import json
import pathlib
import subprocess


def cycles(program, model, npu, *option):
    mode = "dedicated-sram" if "u65" in npu else "shared-sram"
    done = subprocess.run([program, "compile", model, npu, mode, *option], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["cycles"] if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", required=True, help="the program bench_ethos_u")
    parser.add_argument("--npu", nargs="+", default=["ethos-u55-32", "ethos-u55-128", "ethos-u55-256", "ethos-u65-512"])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    print("| model | " + " | ".join(npu.removeprefix("ethos-") for npu in arguments.npu) + " |")
    print("|---" * (len(arguments.npu) + 1) + "|")
    for model in arguments.models:
        cells = []
        for npu in arguments.npu:
            free = cycles(arguments.measure, model, npu)
            kept = cycles(arguments.measure, model, npu, "confirmed")
            text = [f"{c:,}" if c else "not the NPU's alone" for c in (free, kept)]
            cells.append(" / ".join(text) + (f" ({kept / free:.2f})" if free and kept else ""))
        print(f"| {model.resolve().parent.name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
