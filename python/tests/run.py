#!/usr/bin/env python3
"""Runs tests of the Python package, from ctest: run.py PACKAGE-FOLDER FILE...

Exit status 77 where something is missing that the tests cannot do without: pytest, numpy, or, without a folder (""), the module
itself. What a single test lacks is that test's business (conftest.py).
"""
import importlib.util
import os
import re
import sys

SKIPPED = 77


def skip(name, why):
    """Says what is missing, as tests/support/test_main.cpp does; not when it must not be."""
    reason = f"needs {name}: {why}"
    allowed = os.environ.get("INTARSIA_MAY_SKIP")
    if allowed is not None and name not in re.split(r"[\s,;]+", allowed):
        print(f"skipped, and $INTARSIA_MAY_SKIP ('{allowed}') does not list '{name}': {reason}", file=sys.stderr)
        return 1
    print(reason)
    if "INTARSIA_SKIP_LOG" in os.environ:
        with open(os.environ["INTARSIA_SKIP_LOG"], "a", encoding="utf-8") as log:
            log.write(f"python_test\t{reason}\n")
    return SKIPPED


def main():
    package, *files = sys.argv[1:]
    if not package:
        return skip("python-module", "it is not built (python/FindModuleTools.cmake says what that takes)")
    for name in ("pytest", "numpy"):
        if importlib.util.find_spec(name) is None:
            return skip("python-packages", f"{sys.executable} has no {name}")
    path = os.pathsep.join(filter(None, [os.path.abspath(package), os.environ.get("PYTHONPATH")]))
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    os.execve(sys.executable, arguments, dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1"))


if __name__ == "__main__":
    sys.exit(main())
