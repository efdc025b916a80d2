#!/usr/bin/env python3
"""Writes expected.txt from what the two other applications have to print: each keyword that is heard, and the next frame.

    expected.py            # writes the file beside this script
    expected.py --check    # is it what this script writes?
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent


def lines(application):
    return (HERE.parent / application / "expected.txt").read_text().splitlines()


pictures = [line.split(",")[0] for line in lines("camera-wake-word") if ".rgb565" in line]
text, heard = "", 0
for line in lines("keyword-stream"):
    if line.startswith("recording"):
        text += line + "\n"
    elif word := re.fullmatch(r"(  [\d.]+ s  \w+)  \d+ %", line):
        picture = pictures[heard % len(pictures)]
        opens = int(re.search(r"(\d+) %", picture)[1]) >= 80
        text += f"{word[1]}: {picture}, {'open' if opens else 'stay shut'}\n"
        heard += 1
if sys.argv[1:] == ["--check"]:
    sys.exit((HERE / "expected.txt").read_text() != text)
(HERE / "expected.txt").write_text(text)
