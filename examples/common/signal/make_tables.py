#!/usr/bin/env python3
"""Writes fixed_tables.c. Needs nothing beyond Python.

    make_tables.py            # writes the file beside this script
    make_tables.py --check    # is the file as this script makes it?
"""
import math
import pathlib
import sys

CIRCLE, PIECES = 512, 64


def table(name, comment, values):
    lines = [f"/* {comment} */", f"const int32_t {name}[{len(values)}] = {{"]
    for i in range(0, len(values), 8):
        lines.append("    " + ", ".join(str(value) for value in values[i:i + 8]) + ",")
    lines[-1] = lines[-1][:-1] + "};"
    return "\n".join(lines) + "\n"


def content():
    # Of no value is the real number so near to the middle of two integers that a library's last bit decides.
    sine = [round(2**30 * math.sin(2 * math.pi * k / CIRCLE)) for k in range(CIRCLE * 3 // 4)]
    log2 = [round(65536 * math.log2(1 + k / PIECES)) for k in range(PIECES + 1)]
    return ('/* Made by make_tables.py. */\n/* clang-format off */\n#include "fixed_tables.h"\n\n'
            + table("fixed_sine_q30", f"2^30 sin(2 pi k / {CIRCLE}), three quarters of the circle.", sine) + "\n"
            + table("fixed_log2_table_q16", f"2^16 log2(1 + k / {PIECES}).", log2))


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit(f"{sys.argv[0]}: no argument, or --check")
    file = pathlib.Path(__file__).resolve().parent / "fixed_tables.c"
    if not sys.argv[1:]:
        file.write_text(content())
    elif file.read_text() != content():
        raise SystemExit(f"{file}: is not as {sys.argv[0]} makes it")
