"""A model of one operator for every builtin operator of the schema, and for every custom one whose name TFLM's library
holds: {"writer": folder of tflite_writer.py, "out": folder}. Answers {name: files, one for each version}, custom names behind "custom ".
"""
import pathlib
import re
import sys

from forked import answer_jobs

# Some tools have an operator from its second or third version on only.
VERSIONS = (1, 2, 3)
NO_OPERATORS = ("CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES")
# Names of TFLM's custom operators, as strings of its library; what it does not know by one is found by asking it.
CUSTOM_NAMES = re.compile(rb"\0(Signal[A-Z][A-Za-z]+|TFLite_\w+|CIRCULAR_BUFFER)(?=\0)")


def write(writer, folder, name, version, custom):
    model = writer.Model()
    graph = model.subgraph()
    first, second = graph.tensor([1]), graph.tensor([1])
    graph.inputs(first)
    graph.outputs(second)
    graph.op("CUSTOM" if custom else name, [first], [second], version=version)
    if custom:
        model.model.operatorCodes[-1].customCode = name
    path = pathlib.Path(folder, f"{'custom_' if custom else ''}{name}_{version}.tflite")
    path.write_bytes(model.bytes())
    return str(path)


def work(job):
    sys.path.insert(0, job["writer"])
    import tflite_writer

    builtin = [name for name in sorted(vars(tflite_writer.fb.BuiltinOperator)) if not name.startswith("_") and name not in NO_OPERATORS]
    library = pathlib.Path(tflite_writer.runtime._runtime.__file__).read_bytes()
    custom = sorted({name.decode() for name in CUSTOM_NAMES.findall(library)})
    every = lambda name, custom: [write(tflite_writer, job["out"], name, version, custom) for version in VERSIONS]
    return {**{name: every(name, False) for name in builtin}, **{f"custom {name}": every(name, True) for name in custom}}


answer_jobs(work)
