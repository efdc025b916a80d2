#!/usr/bin/env python3
"""Runs a benchmark and fails unless it ends well and prints what it should. No figure is judged, only that it is there.

  check_output.py [--row PATTERN NUMBERS]... [--needs NAME PATH]... -- COMMAND...

--row: some line begins with PATTERN (a regular expression) and has at least that number of finite numbers after it.
--needs: where there is no such file or program, the run counts as skipped for want of NAME (exit code 77); PATH may begin
with $INTARSIA_SHARED, and is then looked for beside the repository where that variable is not set. $INTARSIA_MAY_SKIP and $INTARSIA_SKIP_LOG mean what they mean for the tests (tests/support/test_main.cpp).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SHARED = os.environ.get("INTARSIA_SHARED", pathlib.Path(__file__).resolve().parent.parent.parent / "shared")
SKIPPED = 77
# "45.1x" too, but nothing of a hexadecimal one.
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?(?:x\b|(?!\w))", re.IGNORECASE)
# What stands in a table in place of a number, and what Google Benchmark says of a run that failed.
BROKEN = re.compile(r"\bnan\b|\binf(inity)?\b|ERROR OCCURRED|outputs differ", re.IGNORECASE)


def skip(name, path):
    reason = f"needs {name}: there is no {path}"
    allowed = os.environ.get("INTARSIA_MAY_SKIP")
    if allowed is not None and name not in re.split(r"[\s,;]+", allowed):
        sys.exit(f"skipped, and $INTARSIA_MAY_SKIP ('{allowed}') does not list '{name}': {reason}")
    print(reason)
    if "INTARSIA_SKIP_LOG" in os.environ:
        with open(os.environ["INTARSIA_SKIP_LOG"], "a", encoding="utf-8") as log:
            log.write(f"bench\t{reason}\n")
    sys.exit(SKIPPED)


def problems(text, rows):
    found = [f"'{match.group()}' in the output" for match in BROKEN.finditer(text)]
    for pattern, count in rows:
        matches = [(line, re.match(pattern, line)) for line in text.splitlines()]
        numbers = [len(NUMBER.findall(line[match.end():])) for line, match in matches if match]
        if not numbers:
            found.append(f"no line begins with '{pattern}'")
        elif max(numbers) < count:
            found.append(f"'{pattern}' is followed by {max(numbers)} numbers, not {count}")
    return found


def main():
    arguments, rows = sys.argv[1:], []
    while arguments and arguments[0] != "--":
        option, first, second, *arguments = arguments
        if option == "--row":
            rows.append((first, int(second)))
        elif option == "--needs":
            second = second.replace("$INTARSIA_SHARED", str(SHARED))
            if not os.path.exists(second) and shutil.which(second) is None:
                skip(first, second)
        else:
            sys.exit(__doc__)
    command = arguments[1:]
    if not command or not rows:
        sys.exit(__doc__)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    found = problems(done.stdout, rows)
    if done.returncode != 0:
        found.insert(0, f"exit code {done.returncode}")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
