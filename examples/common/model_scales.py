#!/usr/bin/env python3
"""Prints a C header with the scale and the zero point of each input and output, read from the comments of a model's
header. Macros that the header has already are left to it."""
import pathlib
import re
import sys

path = pathlib.Path(sys.argv[1])
text, name = path.read_text(), path.stem.upper()
print(f'#include "{path.name}"')
counts = {}
FACT = r"^(?:#define \w+_(INPUT|OUTPUT)_COUNT \d+|/\* .*real = ([-+.\de]+) \* \(q ([-+]) (\d+)\) \*/)$"
lines = re.findall(FACT, text, re.M)
kind = None
for section, scale, sign, zero in lines:
    if section:
        kind = section
        continue
    index = counts.get(kind, 0)
    counts[kind] = index + 1
    macro = f"{name}_{kind}{index}"
    number = scale if "." in scale or "e" in scale else scale + ".0"
    print(f"#ifndef {macro}_SCALE\n#define {macro}_SCALE {number}f")
    print(f"#define {macro}_ZERO_POINT ({'-' if sign == '+' else ''}{zero})\n#endif")
