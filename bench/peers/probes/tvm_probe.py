"""What apache-tvm has: {"module": name} imports it, {"kinds": true} lists kinds of targets, {"c": true} compiles a function to C."""
import importlib
import re

from forked import answer_jobs

FUNCTION = """
from tvm.script import tirx as T

@T.prim_func
def add(A: T.Buffer((8,), "int8"), B: T.Buffer((8,), "int8")):
    for i in range(8):
        B[i] = A[i] + T.int8(1)
"""


def c_of_an_addition():
    import pathlib
    import sys
    import tempfile

    import tvm

    # Its parser reads the source of a function from a file.
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "addition.py").write_text(FUNCTION)
        sys.path.insert(0, folder)
        import addition
        text = tvm.compile(tvm.IRModule({"add": addition.add}), target="c").mod.inspect_source()
    return {"includes": re.findall(r'#include ["<]((?:tvm|dlpack)[^">]*)', text), "calls": sorted(set(re.findall(r"\b(TVM\w+)\(", text)))}


def work(job):
    if "module" in job:
        importlib.import_module(job["module"])
        return "works"
    if "kinds" in job:
        import tvm
        return list(map(str, tvm.target.Target.list_kinds()))
    return c_of_an_addition()


answer_jobs(work)
