#!/usr/bin/env python3
"""Runs tests of the Python package, from ctest: run.py PACKAGE-FOLDER FILE...

Exit status 77 where something is missing that the tests cannot do without: pytest, numpy, or, without a folder (""), the module
itself. What a single test lacks is that test's business (conftest.py).
"""
import importlib.util
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "support"))
from needs import skip  # noqa: E402, it lies there


def main():
    package, *files = sys.argv[1:]
    if not package:
        return skip("python_test", "python-module", "it is not built (python/FindModuleTools.cmake says what that takes)")
    for name in ("pytest", "numpy"):
        if importlib.util.find_spec(name) is None:
            return skip("python_test", "python-packages", f"{sys.executable} has no {name}")
    path = os.pathsep.join(filter(None, [os.path.abspath(package), os.environ.get("PYTHONPATH")]))
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    os.execve(sys.executable, arguments, dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1"))


if __name__ == "__main__":
    sys.exit(main())
