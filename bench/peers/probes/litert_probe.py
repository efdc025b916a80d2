"""LiteRT's interpreter on models; jobs as tflm_probe.py has them, "reference": its reference kernels in place of its own choice."""
import pathlib

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from forked import answer_jobs


def work(job):
    kernels = OpResolverType.BUILTIN_REF if job.get("reference") else OpResolverType.AUTO
    outputs = {}
    for sample in range(job.get("samples", 0)):
        interpreter = Interpreter(job["model"], experimental_op_resolver_type=kernels)
        interpreter.allocate_tensors()
        for index, about in enumerate(interpreter.get_input_details()):
            values = np.full(about["shape"], job.get("fill", 0), about["dtype"])
            if job.get("inputs"):
                size = values.nbytes
                data = pathlib.Path(job["inputs"][index]).read_bytes()[sample * size:(sample + 1) * size]
                values = np.frombuffer(data, about["dtype"]).reshape(about["shape"])
            interpreter.set_tensor(about["index"], values)
        interpreter.invoke()
        for index, about in enumerate(interpreter.get_output_details()):
            outputs.setdefault(index, []).append(interpreter.get_tensor(about["index"]).tobytes())
    if not job.get("samples"):
        Interpreter(job["model"], experimental_op_resolver_type=kernels)
    for index, parts in outputs.items():
        if "out" in job:
            pathlib.Path(job["out"], f"out{index}.bin").write_bytes(b"".join(parts))
    return True


answer_jobs(work)
