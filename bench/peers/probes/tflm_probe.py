"""TFLite Micro's interpreter on models. A job: {"model": path, "inputs": [file of all samples for each input], "samples": N,
"out": folder}; without inputs, "fill" everywhere; without samples, the model is only loaded. A fresh interpreter runs each sample."""
import pathlib

import numpy as np
from forked import answer_jobs
from tflite_micro.python.tflite_micro import runtime

RECORDING = runtime.InterpreterConfig.kAllocationRecording
# Its default is a multiple of the file's size, which is too little for small files with large tensors.
ARENA_BYTES = 64 << 20


def work(job):
    outputs = {}
    for sample in range(job.get("samples", 0)):
        interpreter = runtime.Interpreter.from_file(job["model"], arena_size=ARENA_BYTES)
        model = runtime.convert_bytearray_to_object(pathlib.Path(job["model"]).read_bytes())
        for index, _ in enumerate(model.subgraphs[0].inputs):
            about = interpreter.get_input_details(index)
            values = np.full(about["shape"], job.get("fill", 0), about["dtype"])
            if job.get("inputs"):
                size = values.nbytes
                data = pathlib.Path(job["inputs"][index]).read_bytes()[sample * size:(sample + 1) * size]
                values = np.frombuffer(data, about["dtype"]).reshape(about["shape"])
            interpreter.set_input(values, index)
        interpreter.invoke()
        for made, _ in enumerate(model.subgraphs[0].outputs):
            outputs.setdefault(made, []).append(interpreter.get_output(made).tobytes())
    if job.get("arena"):
        runtime.Interpreter.from_file(job["model"], arena_size=ARENA_BYTES, intrepreter_config=RECORDING).print_allocations()
    if not job.get("samples") and not job.get("arena"):
        runtime.Interpreter.from_file(job["model"], arena_size=ARENA_BYTES)
    for index, parts in outputs.items():
        if "out" in job:
            pathlib.Path(job["out"], f"out{index}.bin").write_bytes(b"".join(parts))
    return True


answer_jobs(work)
