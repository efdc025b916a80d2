"""The console script ``intarsia``: the compiled program takes the place of the interpreter."""

from __future__ import annotations

import os
import sys

from intarsia import _resources


def main() -> None:
    program = _resources.program()
    try:
        os.execv(program, ["intarsia", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"intarsia: {program} cannot be started: {error.strerror}; install the package again")
