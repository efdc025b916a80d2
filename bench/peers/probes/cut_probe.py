"""Each operator of a network as a model of its own. A job: {"model": path, "out": folder}; the answer has of each operator the names of
its tensors that are no constants, and op0.tflite, op1.tflite ... are in the folder."""
import copy
import pathlib

import flatbuffers
from forked import answer_jobs
from tflite_micro.python.tflite_micro import runtime


def work(job):
    model = runtime.convert_bytearray_to_object(bytearray(pathlib.Path(job["model"]).read_bytes()))
    graph, buffers, answer = model.subgraphs[0], model.buffers, []
    model.signatureDefs, model.metadata, model.subgraphs = [], [], [graph]
    tensors, operators = graph.tensors, list(graph.operators)
    known = lambda tensor: buffers[tensor.buffer].data is not None and len(buffers[tensor.buffer].data) > 0
    for number, operator in enumerate(operators):
        one = copy.copy(operator)
        used = [index for index in dict.fromkeys([*operator.inputs, *operator.outputs]) if index >= 0]
        place = {index: at for at, index in enumerate(used)} | {-1: -1}
        one.inputs = [place[index] for index in operator.inputs]
        one.outputs = [place[index] for index in operator.outputs]
        graph.operators, graph.tensors = [one], []
        model.buffers = [copy.copy(buffers[0])]
        for index in used:
            tensor = copy.copy(tensors[index])
            if known(tensor):
                model.buffers.append(buffers[tensor.buffer])
            tensor.buffer = len(model.buffers) - 1 if known(tensor) else 0
            graph.tensors.append(tensor)
        inputs = [index for index in dict.fromkeys(operator.inputs) if index >= 0 and not known(tensors[index])]
        graph.inputs, graph.outputs = [place[index] for index in inputs], list(one.outputs)
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), b"TFL3")
        pathlib.Path(job["out"], f"op{number}.tflite").write_bytes(builder.Output())
        name = lambda index: tensors[index].name.decode()
        answer.append({"inputs": [name(index) for index in inputs], "outputs": [name(index) for index in operator.outputs]})
    return answer


answer_jobs(work)
