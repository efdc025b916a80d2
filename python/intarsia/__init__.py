"""Intarsia: ahead-of-time deployment of quantised networks to microcontrollers and NPUs.

>>> import intarsia
>>> package = intarsia.compile("digits.tflite", board="mps2-an386")
>>> package.report.ram, package.report.flash     # bytes, before anything is flashed
>>> package.write("digits")                      # C sources, the runtime, build files, a report
>>> scores, = intarsia.Model("digits.tflite")(picture)

What cannot be done is an :class:`Error` with all its ``problems``.
"""

from intarsia._interpreter import refuse_further_interpreters

refuse_further_interpreters()

# ruff: noqa: E402
from intarsia import _core
from intarsia._compile import Format, Package, Progress, compile, formats
from intarsia._errors import Error, InternalError, Problem
from intarsia._explain import Explanation, Offer, PlacedOperator, explain
from intarsia._lists import Attribute, Board, BoardMemory, Device, Kind, Tag, Target, TargetCatalogue, boards, targets
from intarsia._model import Model, Tensor
from intarsia._offload import KeptOperator, Offloaded, bare_networks, offload
from intarsia._options import ModelLike
from intarsia._plan import PlacedBuffer, Placement, PlanBuffer, plan
from intarsia._report import Flash, Layer, Memory, PlannedBuffer, Range, Report
from intarsia._simulate import Evaluation, Simulator, Verification, VerifiedOperator, evaluate, simulate, verify
from intarsia._sweep import Sweep, SweepRow, sweep

__version__: str = _core.version

__all__ = [
    "Attribute", "Board", "BoardMemory", "Device", "Error", "Evaluation", "Explanation", "Flash", "Format", "InternalError", "KeptOperator", "Kind", "Layer",
    "Memory", "Model", "ModelLike", "Offer", "Offloaded", "Package", "PlacedBuffer", "PlacedOperator", "Placement", "PlanBuffer",
    "PlannedBuffer", "Problem", "Progress", "Range", "Report", "Simulator", "Sweep", "SweepRow", "Tag", "Target", "TargetCatalogue", "Tensor",
    "Verification", "VerifiedOperator", "bare_networks", "boards", "compile", "evaluate", "explain", "formats", "offload", "plan", "simulate", "sweep", "targets",
    "verify",
]
