#!/usr/bin/env python3
"""Writes the node tests of the installed `onnx` package as files, for releases that ship only what makes them.

    python3 make_node_tests.py FOLDER       # needs: onnx; then INTARSIA_ONNX_TESTS=FOLDER

Each case is a folder: model.onnx, test_data_set_0/{input,output}_<i>.pb. Cases whose values are no tensors (sequences,
optional values) get their model alone.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case import node


def as_tensor(value):
    if isinstance(value, onnx.TensorProto):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return numpy_helper.from_array(np.asarray(value))
    return None


def write(case, folder):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for kind, values in zip(("input", "output"), case.data_sets[0]):
        for i, value in enumerate(values):
            tensor = as_tensor(value)
            if tensor is not None:
                (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1])
    cases = node.collect_testcases()
    for case in cases:
        write(case, target / case.name)
    print(f"{len(cases)} cases of onnx {onnx.__version__}")


main()
