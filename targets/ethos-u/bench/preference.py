#!/usr/bin/env python3
"""What the preference between fast memory and time is worth (kMemoryPerTime in compiler/schedule/constant_planner.cpp): builds
bench_ethos_u with each of the given values in turn and prints a table in Markdown, cycles and bytes of fast memory for
each model and NPU where they differ. The source is put back as it was.

  preference.py --build build/bench --value 1 2 4 --mode shared-sram --npu TAG... MODEL.tflite...
  preference.py --build build/bench --as-built ...      what the program gives as it is: every row, nothing is built
"""
import argparse
import json
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(__file__).parent.parent / "compiler/schedule/constant_planner.cpp"
PATTERN = re.compile(r"(constexpr double kMemoryPerTime = )[^;]+;")


def measured(program, model, npu, mode):
    done = subprocess.run([program, "compile", model, npu, mode], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    figures = json.loads(done.stdout)
    return figures["cycles"], figures["sram"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="a build folder with benchmarks")
    parser.add_argument("--as-built", action="store_true")
    parser.add_argument("--value", nargs="+", default=["1", "2", "4"])
    parser.add_argument("--mode", default="shared-sram")
    parser.add_argument("--npu", nargs="+", default=["ethos-u55-64", "ethos-u55-128", "ethos-u55-256", "ethos-u65-512"])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    before = SOURCE.read_text()
    found = PATTERN.search(before)
    if not found:
        raise SystemExit(f"{SOURCE} has no kMemoryPerTime")
    if arguments.as_built:
        arguments.value = [found.group(0).removeprefix(found.group(1)).rstrip(";")]
    table = {}
    try:
        for value in arguments.value:
            if not arguments.as_built:
                SOURCE.write_text(PATTERN.sub(rf"\g<1>{value};", before))
                subprocess.run(["cmake", "--build", arguments.build, "--target", "bench_ethos_u"], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            program = next(p for p in arguments.build.rglob("bench_ethos_u") if p.is_file())
            for model in arguments.models:
                for npu in arguments.npu:
                    name = f"{model.resolve().parent.name} {npu.removeprefix('ethos-')}"
                    table.setdefault(name, []).append(measured(program, model, npu, arguments.mode))
    finally:
        if not arguments.as_built:
            SOURCE.write_text(before)
    print(f"| {arguments.mode} | " + " | ".join(arguments.value) + " |")
    print("|---" * (len(arguments.value) + 1) + "|")
    for name, values in table.items():
        if arguments.as_built or len(set(values)) > 1:
            print(f"| {name} | " + " | ".join(f"{v[0]:,.0f} / {v[1]:,}" if v else "none" for v in values) + " |")


if __name__ == "__main__":
    main()
