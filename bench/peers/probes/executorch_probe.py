"""ExecuTorch on a network of PyTorch with the layers of examples/digits and random weights: {"for": "portable" | "cortex-m" |
"ethos-u", "npu": TAG, "out": file}. Answers the bytes of the .pte, of the memory that it has planned, its operators and delegates.
{"file": path} asks whether it takes a file that is no program of PyTorch.
"""
import pathlib
import re
import struct

import torch
from executorch.exir import EdgeCompileConfig, to_edge, to_edge_transform_and_lower
from forked import answer_jobs
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

INPUT = (1, 1, 8, 8)
CALIBRATIONS = 4
# The header of a block: 16 bytes of name, its size and more; see _BLOCK_HEADER in its backends/arm/arm_vela.py.
SCRATCH, HEADER_REST = re.compile(rb"scratch_size\0{4}"), 16


class Block(nn.Module):
    """A convolution, and beside it a depthwise one with the pointwise one behind it, added."""

    def __init__(self, channels_in, channels):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(channels_in, channels, 3, padding=1), nn.ReLU())
        self.depthwise = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.ReLU())
        self.pointwise = nn.Sequential(nn.Conv2d(channels, channels, 1), nn.ReLU())

    def forward(self, x):
        x = self.stem(x)
        return x + self.pointwise(self.depthwise(x))


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(1, 16), Block(16, 32)
        self.most, self.average = nn.MaxPool2d(2), nn.AvgPool2d(2)
        self.scores = nn.Linear(128, 10)

    def forward(self, x):
        x = self.average(self.second(self.most(self.first(x))))
        return torch.softmax(self.scores(torch.flatten(x, 1)), 1)


def quantised(network, quantizer, example):
    prepared = prepare_pt2e(torch.export.export(network, example).module(), quantizer)
    for _ in range(CALIBRATIONS):
        prepared(torch.randn(INPUT))
    return torch.export.export(convert_pt2e(prepared), example)


def for_cortex_m(network, example):
    from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
    from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer

    channels_last = tuple(tensor.to(memory_format=torch.channels_last) for tensor in example)
    edge = to_edge(quantised(network.to(memory_format=torch.channels_last), CortexMQuantizer(), channels_last),
                   compile_config=cortex_m_edge_compile_config())
    edge._edge_programs["forward"] = CortexMPassManager(edge.exported_program()).transform()
    return edge


def for_ethos_u(network, example, npu):
    from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
    from executorch.backends.arm.quantizer import EthosUQuantizer, get_symmetric_quantization_config

    spec = EthosUCompileSpec(npu)
    quantizer = EthosUQuantizer(spec)
    quantizer.set_global(get_symmetric_quantization_config())
    return to_edge_transform_and_lower(quantised(network, quantizer, example), partitioner=[EthosUPartitioner(spec)],
                                       compile_config=EdgeCompileConfig(_check_ir_validity=False))


def work(job):
    if "file" in job:
        torch.export.load(job["file"])
        return "taken"
    torch.manual_seed(0)
    network, example = Digits().eval(), (torch.randn(INPUT),)
    edge = {"portable": lambda: to_edge(torch.export.export(network, example)),
            "cortex-m": lambda: for_cortex_m(network, example),
            "ethos-u": lambda: for_ethos_u(network, example, job["npu"])}[job["for"]]()
    program = edge.to_executorch()
    pathlib.Path(job["out"]).write_bytes(program.buffer)
    plan = program.executorch_program.execution_plan[0]
    # What Vela's stream works in, which the delegate takes from the runtime's allocator while it runs: a block of the stream.
    scratch = [struct.unpack_from("<i", program.buffer, match.end() + HEADER_REST)[0] for match in SCRATCH.finditer(program.buffer)]
    return {"bytes": len(program.buffer), "planned": sum(plan.non_const_buffer_sizes), "scratch": sum(scratch),
            "operators": sorted({re.sub(r"^.*::", "", operator.name) for operator in plan.operators}),
            "delegates": sorted({delegate.id for delegate in plan.delegates})}


answer_jobs(work)
