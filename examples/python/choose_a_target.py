#!/usr/bin/env python3
"""Which core, with which NPU, within how much RAM: a table of what a model takes, and the choices that no other one beats.

    choose_a_target.py MODEL [--csv FILE]
"""
import argparse
import concurrent.futures
import sys

import intarsia

TARGETS = ["cortex-m0", "cortex-m4", "cortex-m55", "cortex-m55+ethos-u55-32", "cortex-m55+ethos-u55-128", "cortex-m55+ethos-u55-256"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a .tflite or .onnx")
    parser.add_argument("--csv", help="write the table there")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor() as threads:  # the compiler leaves Python's lock to others
        table = intarsia.sweep(options.model, TARGETS, [None, "2500"], executor=threads)
    if options.csv:
        table.to_csv(options.csv)
    best = table.pareto("ram", "constants", "microseconds")
    print(f"{'target':<48} {'budget':>8} {'RAM':>8} {'constants':>10} {'us':>10}")
    for row in table:
        budget = "" if row.ram_budget is None else row.ram_budget
        if row.error is not None:
            print(f"{row.target:<48} {budget:>8} not possible")
            continue
        mark = "  *" if row in best else ""
        print(f"{row.target:<48} {budget:>8} {row.ram:>8} {row.constants:>10} {row.microseconds:>10.0f}{mark}")
    print("* no other choice is as good in RAM, constants and estimated time, and better in one")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except intarsia.Error as error:
        sys.exit(str(error))
