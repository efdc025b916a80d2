#!/usr/bin/env python3
"""Runs a network of floats as MediaPipe's graphs do, with its own operators. make_mediapipe_cases.py calls it by a Python that has
mediapipe==0.10.14, whose other packages do not go together with those of ../requirements.txt.

    run_mediapipe.py MODEL OUTPUTS INPUT.npy...      # the number of outputs; writes out0.npy, ... beside the model
"""
import pathlib
import sys

import mediapipe  # noqa: F401
import numpy as np
from mediapipe.python import packet_creator, packet_getter
from mediapipe.python._framework_bindings import calculator_graph

MATRIX = """node { calculator: "TensorConverterCalculator" input_stream: "MATRIX:in%d" output_stream: "TENSORS:given%d"
  options { [mediapipe.TensorConverterCalculatorOptions.ext] { row_major_matrix: true } } }"""
JOIN = """node { calculator: "ConcatenateTensorVectorCalculator" %s output_stream: "given" }"""
INFER = """node { calculator: "TfLiteCustomOpResolverCalculator" output_side_packet: "OP_RESOLVER:operators" }
node { calculator: "InferenceCalculator" input_stream: "TENSORS:given" input_side_packet: "OP_RESOLVER:operators"
  output_stream: "TENSORS:made"
  options { [mediapipe.InferenceCalculatorOptions.ext] { model_path: "%s" delegate { tflite {} } } } }"""
SPLIT = """node { calculator: "SplitTensorVectorCalculator" input_stream: "made" %s
  options { [mediapipe.SplitVectorCalculatorOptions.ext] { %s } } }"""
FLOATS = """node { calculator: "TensorsToFloatsCalculator" input_stream: "TENSORS:made%d" output_stream: "FLOATS:out%d" }"""


def main(model, outputs, *inputs):
    count, outputs = len(inputs), range(int(outputs))
    streams = [f'input_stream: "in{i}"' for i in range(count)] + [f'output_stream: "out{i}"' for i in outputs]
    nodes = [MATRIX % (i, i) for i in range(count)]
    nodes.append(JOIN % " ".join(f'input_stream: "given{i}"' for i in range(count)))
    nodes.append(INFER % model)
    nodes.append(SPLIT % (" ".join(f'output_stream: "made{i}"' for i in outputs),
                          " ".join(f"ranges {{ begin: {i} end: {i + 1} }}" for i in outputs)))
    nodes += [FLOATS % (i, i) for i in outputs]
    graph = calculator_graph.CalculatorGraph(graph_config="\n".join(streams + nodes))
    made = {}
    for i in outputs:
        graph.observe_output_stream(f"out{i}", lambda name, packet: made.update({name: packet_getter.get_float_list(packet)}))
    graph.start_run()
    for i, name in enumerate(inputs):
        values = np.load(name)
        graph.add_packet_to_input_stream(f"in{i}", packet_creator.create_matrix(values.reshape(1, -1)).at(0))
    graph.wait_until_idle()
    graph.close()
    for name, values in made.items():
        np.save(pathlib.Path(model).parent / f"{name}.npy", np.array(values, np.float32))


if __name__ == "__main__":
    main(*sys.argv[1:])
