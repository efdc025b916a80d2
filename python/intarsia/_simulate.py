"""Compiled models, executed in this process."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from intarsia import _core, _resources
from intarsia._arrays import as_array, operands, sample_operands
from intarsia._compile import Package
from intarsia._compile import compile as compile_model
from intarsia._errors import error
from intarsia._model import Model, Tensor
from intarsia._options import Bytes, ModelLike, bytes_of, options_of, sample_count, thread_count

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Evaluation", "Simulator", "Verification", "VerifiedOperator", "evaluate", "simulate", "verify"]


class Simulator:
    """A compiled model that is executed in this process: lowered loops and kernels of the CPU, and command streams by the drivers
    of their devices on simulated ones, in memory as it is planned. No C compiler is started.

    State (of streaming models) goes on from one call to the next; :meth:`reset` forgets it. Calls of several threads
    on one simulator wait for each other.

    :param package: what :func:`compile` returned, or a model, which is compiled with ``options`` first: those of :func:`compile`,
        of which ``measure`` is False here.
    :param trace: record what simulated devices do over time, for :meth:`trace`.
    :raises Error: the model cannot be compiled, or a part of it cannot be executed here: a device without a simulator.
    """

    def __init__(self, package: Package | ModelLike, *, trace: bool = False, **options: Any) -> None:
        if isinstance(package, Package):
            if options:
                raise TypeError(f"a package is compiled: it takes no {', '.join(options)}")
        else:
            # Flash and stack are of no use here, unless there is a budget to be kept.
            options.setdefault("measure", options.get("flash_budget") is not None)
            package = compile_model(package, **options)
        self.package: Package = package
        """What is executed."""
        self._name = package.name
        self._simulator = _core.make_simulator(package._compiled, trace)
        self.inputs: tuple[Tensor, ...] = tuple(map(Tensor._of, self._simulator.inputs))
        """In the order of the arguments of a call."""
        self.outputs: tuple[Tensor, ...] = tuple(map(Tensor._of, self._simulator.outputs))
        """In the order of the results of a call."""

    def __call__(self, *arrays: object, quantise: bool = False) -> list[np.ndarray[Any, Any]]:
        """One inference. Arguments, results and errors are those of a call of :class:`Model`; an Error too when a simulated device
        fails."""
        results = self._simulator.run(operands(self._name, self.inputs, arrays, quantise=quantise))
        return self._real(results) if quantise else results

    def _real(self, results: list[Any]) -> list[Any]:
        return [tensor.dequantise(result) for tensor, result in zip(self.outputs, results)]

    def run_all(self, *arrays: object, quantise: bool = False) -> dict[str, np.ndarray[Any, Any]]:
        """One inference, with the results of the operators by the operators' names, in the order in which they are made.

        Operators that were made one with others, and those inside a command stream, have no result of their own. Of a model for
        several CPUs there are none.
        """
        _, results = self._simulator.run_all(operands(self._name, self.inputs, arrays, quantise=quantise))
        return {name: Tensor._of(facts).dequantise(array) if quantise else array for name, (facts, array) in results.items()}

    def batch(self, *arrays: object, quantise: bool = False, threads: int = 0,
              progress: Callable[[int, int], object] | None = None) -> list[np.ndarray[Any, Any]]:
        """Many inferences that have nothing to do with each other: each begins without state, and all cores work.

        :param arrays: one for each input, with the samples as a further extent in front of the tensor's; of a tensor whose first
            extent is 1 that one may be missing. One sample where others have several is for all of them.
        :param threads: that work at once, up to 1024; 0: one for each core.
        :param progress: called with the number of samples that are done and of all.
        :return: one array for each output, with the samples in front.
        """
        workers = thread_count(threads)
        given, samples = sample_operands(self._name, self.inputs, arrays, quantise=quantise)
        results = self._simulator.batch(given, samples, workers, progress)
        return self._real(results) if quantise else results

    def reset(self) -> None:
        """Forgets the state of earlier calls."""
        self._simulator.reset()

    @property
    def profile(self) -> list[dict[str, Any]]:
        """What simulated devices tell of the last run of each of their command streams: cycles by operator, and more that
        depends on the device. Empty where there are none."""
        text = self._simulator.profile_json()
        return list(json.loads(text)) if text else []

    def trace(self) -> dict[str, Any] | None:
        """What simulated devices did until now, in Chrome's trace format; None where there are none, or ``trace`` was not asked
        for."""
        text = self._simulator.trace_json()
        return dict(json.loads(text)) if text else None

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an intarsia.Simulator can neither be copied nor pickled: it has state; make another one of the model "
                        "or the package where it is needed")

    def __repr__(self) -> str:
        return f"<intarsia.Simulator of {self.package!r}>"


def simulate(package: Package | ModelLike, inputs: object, *, quantise: bool = False, **options: Any) -> list[np.ndarray[Any, Any]]:
    """One inference of a compiled model in this process; :class:`Simulator` is for more than one.

    :param package: what :func:`compile` returned, or a model, which is compiled with ``options`` (``target=...``).
    :param inputs: an array, or a list or tuple with one for each input.
    :param quantise: arrays are of real numbers, and so are the results.
    :return: one array for each output.
    :raises Error: as :class:`Simulator`.
    """
    arrays = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    return Simulator(package, **options)(*arrays, quantise=quantise)


@dataclass(frozen=True)
class VerifiedOperator:
    """An operator of the compiled model beside the reference's."""

    name: str
    difference: str | None
    """The first element that differs by more than is allowed, in words; None: there is none."""
    allowed: int
    """Steps of the result's quantisation by which the device may differ; 0: every bit is the reference's."""
    largest: int
    """Steps by which it does, where it may."""


class Verification:
    """What :func:`verify` found. It is true when everything agrees."""

    def __init__(self, verified: _core.Verified) -> None:
        self.model: str = verified.model
        self.target: str = verified.target
        self.samples: int = verified.samples
        self.difference: str | None = verified.difference or None
        """The first difference, in words: which operator, tensor, sample and element; None: there is none."""
        self.allowed: int = verified.allowed
        """Steps by which operators of the target's devices may differ from the reference."""
        self.largest: int = verified.largest
        """Steps by which they do, where they may."""
        self.operators: tuple[VerifiedOperator, ...] = tuple(
            VerifiedOperator(name, difference or None, allowed, largest) for name, difference, allowed, largest in verified.rows())
        """With ``layers``: every operator, in order, on the operands that it had in the compiled model."""

    def __bool__(self) -> bool:
        return self.difference is None

    def __str__(self) -> str:
        if self.difference is not None:
            return f"{self.model}: reference and compiled model differ, first at {self.difference}"
        agree = f"{self.model}: reference and compiled model agree on {self.samples} samples ({self.target})"
        return f"{agree}; at most {self.largest} of {self.allowed} steps apart that are allowed" if self.allowed else agree

    def __repr__(self) -> str:
        return f"<intarsia.Verification {self}>"


def verify(model: ModelLike, inputs: object = None, *, samples: int = 4, layers: bool = True, quantise: bool = False,
           target: str | Mapping[str, Any] | None = None, board: str | os.PathLike[str] | None = None,
           optimise: str = "balanced", ram_budget: Bytes | None = None, sram_limit: Bytes | None = None,
           pins: Mapping[str, str] | None = None, policy: str = "priority", io: str = "float",
           tags: str | os.PathLike[str] | None = None, keep_dead_channels: bool = False,
           shapes: Mapping[str, Sequence[int]] | None = None,
           input_values: Mapping[str, float | Sequence[float]] | None = None, widen_weights: bool = False, signature: str | None = None) -> Verification:
    """Compares the compiled model, executed in this process, with the reference evaluator.

    ``intarsia verify`` does that too, and for the generated C on this machine and the firmware in an emulator.

    :param inputs: an array, or one for each input, with the samples as a further extent in front of the tensor's. Without it
        samples are made: zero points, smallest and largest values, then random ones.
    :param samples: how many are made. State goes on from one to the next.
    :param layers: operator by operator too.
    :param quantise: ``inputs`` are real numbers.
    :param target: this and what follows are the arguments of :func:`compile`.
    :raises Error: the model cannot be compiled or executed here. A difference is no exception: look at the result.
    """
    held, path = bytes_of(model)
    options = options_of(path, {
        "target": target, "board": board, "optimise": optimise, "ram_budget": ram_budget, "sram_limit": sram_limit, "pins": pins,
        "policy": policy, "io": io, "tags": tags, "keep_dead_channels": keep_dead_channels,
        "shapes": shapes, "input_values": input_values, "widen_weights": widen_weights, "signature": signature})
    given: list[Any] = []
    if inputs is not None:
        reference = Model(model, io=io, shapes=shapes, input_values=input_values, widen_weights=widen_weights, signature=signature)
        arrays = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
        given, samples = sample_operands(reference.name, reference.inputs, arrays, quantise=quantise)
    else:
        samples = sample_count(samples)
    return Verification(_core.verify(_resources.root(), held, options, given, samples, layers))


class Evaluation:
    """What a compiled model makes of a data set. Made by :func:`evaluate`."""

    def __init__(self, package: Package, outputs: list[np.ndarray[Any, Any]], labels: np.ndarray[Any, Any] | None,
                 reference: list[np.ndarray[Any, Any]] | None) -> None:
        self.package = package
        """What was executed."""
        self.outputs = outputs
        """One array for each output, with the samples in front."""
        self.labels = labels
        self._reference = reference

    @property
    def samples(self) -> int:
        return len(self.outputs[0])

    @property
    def predictions(self) -> np.ndarray[Any, Any]:
        """For each sample, the place of the largest element of the first output."""
        import numpy as np

        return np.asarray(self.outputs[0].reshape(self.samples, -1).argmax(axis=1))

    @property
    def correct(self) -> int | None:
        """How many predictions are the labels; None without labels."""
        return None if self.labels is None else int((self.predictions == self.labels).sum())

    @property
    def accuracy(self) -> float | None:
        """:attr:`correct` of all; None without labels."""
        return None if self.correct is None else self.correct / self.samples

    @property
    def equal_to_reference(self) -> int | None:
        """Samples of which every element of every output is the reference's; None where it was not asked for."""
        import numpy as np

        if self._reference is None:
            return None
        same = np.ones(self.samples, bool)
        for ours, its in zip(self.outputs, self._reference):
            same &= (ours.reshape(self.samples, -1) == its.reshape(self.samples, -1)).all(axis=1)
        return int(same.sum())

    def __repr__(self) -> str:
        judged = "" if self.correct is None else f", {self.correct} correct"
        return f"<intarsia.Evaluation of {self.package.name}: {self.samples} samples{judged}>"


def _classes(labels: object, output: Tensor) -> np.ndarray[Any, Any]:
    """Labels that predictions can be: others would only count as wrong."""
    known = as_array("labels", labels).reshape(-1)
    if known.dtype.kind not in "biuf" or (known.dtype.kind == "f" and not (known == known.round()).all()):
        raise error("labels", "are no whole numbers", "give of each sample the number of its class")
    classes = math.prod(output.shape)
    beyond = known[(known < 0) | (known >= classes)]
    if len(beyond) > 0:
        raise error("labels", f"hold {beyond[0]}, and the first output, whose largest element is what is predicted, has {classes}",
                    f"write 0 to {classes - 1}")
    return known


def evaluate(model: Package | ModelLike, samples: object, target: str | Mapping[str, Any] | None = None, *,
             labels: object = None, quantise: bool = False, reference: bool = False, threads: int = 0,
             progress: Callable[[int, int], object] | None = None, **options: Any) -> Evaluation:
    """What a compiled model makes of a data set, executed in this process on all cores.

    :param model: a model, which is compiled with ``target`` and ``options``, or what :func:`compile` returned.
    :param samples: an array, or a list or tuple with one for each input: the samples are a further extent in front of the
        tensor's; of a tensor whose first extent is 1 that one may be missing. One sample where others have several is for all.
    :param labels: of each sample its class, the number of an element of the first output, for ``accuracy``.
    :param quantise: samples are real numbers, and so are the outputs.
    :param reference: let the reference evaluator compute every sample as well, for ``equal_to_reference``.
    :param threads: that work at once; 0: one for each core.
    :param progress: called with the number of samples that are done and of all.
    :raises Error: as :class:`Simulator`, or labels and samples differ in number, or labels are no classes.
    """
    import numpy as np

    if target is not None:
        options["target"] = target
    simulator = Simulator(model, **options)
    known = None if labels is None else _classes(labels, simulator.outputs[0])
    arrays: Sequence[object] = tuple(samples) if isinstance(samples, (list, tuple)) else (samples,)
    outputs = simulator.batch(*arrays, quantise=quantise, threads=threads, progress=progress)
    count = len(outputs[0])
    if known is not None and len(known) != count:
        raise error("labels", f"are {len(known)}, the samples {count}", "give one for each sample")
    expected = None
    if reference:
        if isinstance(model, Package):
            raise error("reference", "a package does not hold the model", "give the model, and its target")
        evaluator = Model(model, io=options.get("io", "float"), shapes=options.get("shapes"),
                          input_values=options.get("input_values"),
                          widen_weights=options.get("widen_weights", False), signature=options.get("signature"))
        given, _ = sample_operands(evaluator.name, evaluator.inputs, arrays, quantise=quantise)
        made = []
        for index in range(count):
            evaluator.reset()
            made.append(evaluator(*(operand[index] for operand in given)))
        expected = [np.stack(each) for each in zip(*made)]
        if quantise:
            expected = [tensor.dequantise(each) for tensor, each in zip(evaluator.outputs, expected)]
    return Evaluation(simulator.package, outputs, known, expected)
