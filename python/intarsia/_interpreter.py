"""Interpreters beside the main one of a process, in which the compiled part cannot be."""

from __future__ import annotations

import importlib


def refuse_further_interpreters() -> None:
    """Before the compiled part is loaded a second time, which would break it for the main interpreter."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        # Newer versions tell beside the number who made the interpreter.
        current, main = (each[0] if isinstance(each, tuple) else each for each in (interpreters.get_current(), interpreters.get_main()))
        if current != main:
            raise ImportError("intarsia can be imported by the main interpreter of a process only: use threads, which run in parallel "
                              "while the compiler works, or processes")
        return
