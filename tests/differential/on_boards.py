"""Many random operators as one model, which a board's emulator runs as firmware: the kernels of a core, where `compare.py` without a
board asks the host's."""
import copy
import pathlib
import subprocess
import tempfile

import numpy as np
from outcome import keep_case
from tflite_writer import Model

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/intarsia"
# What is larger does not leave room for others in the memory of a small board.
MOST_ELEMENTS = 60000


class Pack:
    """Models beside each other in one, in the order in which they come."""

    def __init__(self):
        self.model, self.inputs, self.outputs = Model(), [], []
        self.graph = self.model.subgraph().graph

    def add(self, model, inputs, outputs):
        whole, tensors = self.model.model, len(self.graph.tensors)
        buffers, codes = len(whole.buffers), len(whole.operatorCodes)
        whole.buffers += model.model.buffers
        whole.operatorCodes += model.model.operatorCodes
        graph = model.model.subgraphs[0]
        for tensor in map(copy.copy, graph.tensors):
            tensor.buffer += buffers
            tensor.name = f"t{len(self.graph.tensors)}"
            self.graph.tensors.append(tensor)
        for node in map(copy.copy, graph.operators):
            node.opcodeIndex += codes
            node.inputs = [i + tensors if i >= 0 else i for i in node.inputs]
            node.outputs = [i + tensors for i in node.outputs]
            self.graph.operators.append(node)
        self.graph.inputs += [i + tensors for i in graph.inputs]
        self.graph.outputs += [i + tensors for i in graph.outputs]
        self.inputs += inputs
        self.outputs.append(outputs)

    def run(self, target, board, folder):
        """The results of each model, or the message of the command that refused."""
        folder = pathlib.Path(folder)
        keep_case(folder, "model.tflite", self.model.bytes(), **{"in": self.inputs})
        command = [PROGRAM, "run", folder / "model.tflite", "--target", target, "--board", board, "--output-dir", folder / "out"]
        for i in range(len(self.inputs)):
            command += ["--input", folder / f"in{i}.bin"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return None, done.stderr.strip()
        files = iter(range(sum(map(len, self.outputs))))
        return [[np.fromfile(folder / "out" / f"out{next(files)}.bin", np.asarray(value).dtype) for value in outputs]
                for outputs in self.outputs], ""


def elements(model):
    return sum(int(np.prod(tensor.shape)) for tensor in model.model.subgraphs[0].tensors)


def run_together(cases, target, board):
    """(our results, or None and what the command says) of each. What is refused together is run in halves, to tell which it is."""
    pack = Pack()
    for _, _, model, inputs, _, outputs in cases:
        pack.add(model, inputs, outputs)
    with tempfile.TemporaryDirectory() as folder:
        results, message = pack.run(target, board, folder)
    if results is not None:
        return [(result, "") for result in results]
    if len(cases) == 1:
        return [(None, message)]
    half = len(cases) // 2
    return run_together(cases[:half], target, board) + run_together(cases[half:], target, board)


def cases_together(options, case_of, inputs_of, by_peers, difference):
    """(number, name, result, words) of each case; `by_peers` gives a peer's name and results, or None and why there is none."""
    number = options.first
    while number < options.last:
        cases = []
        while number < options.last and len(cases) < options.together:
            name, model, rng = case_of(options.seed, number, options.operator, options.networks)
            inputs = inputs_of(model, rng)
            peer, outputs = by_peers(model, inputs)
            if elements(model) > MOST_ELEMENTS:
                yield number, name, "left out", "larger than what a pack has room for"
            elif peer is None:
                yield number, name, "no peer", outputs
            else:
                cases.append((number, name, model, inputs, peer, outputs))
            number += 1
        for (case, name, _, _, peer, theirs), (ours, message) in zip(cases, run_together(cases, options.target, options.board)):
            if ours is None:
                yield case, name, "refused", message.splitlines()[0] if message else "no message"
                continue
            found = difference(ours, theirs)
            yield (case, name, "differs from " + peer, found) if found else (case, name, "equals " + peer, "")
