"""The reference evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from intarsia import _core, _resources
from intarsia._arrays import operands
from intarsia._options import ModelLike, bytes_of, options_of

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Model", "Tensor"]


@dataclass(frozen=True)
class Tensor:
    """An input, an output or a result of a model.

    A quantised element q stands for the real number ``scale * (q - zero_point)``.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    """Of arrays; those of tensors of 4-bit integers are int8."""
    scale: float | tuple[float, ...] | None
    """One for the tensor, one for each place along :attr:`axis`, or None: it is of plain numbers."""
    zero_point: int | tuple[int, ...] | None
    axis: int | None
    """Where there are several scales."""
    type: str
    """As the graph has it: "i8", "f32", "i4"."""

    @classmethod
    def _of(cls, facts: _core.TensorFacts) -> Tensor:
        import numpy as np

        scale: float | tuple[float, ...] | None = tuple(facts.scale)
        zero_point: int | tuple[int, ...] | None = tuple(facts.zero_point)
        if len(facts.scale) <= 1:
            scale = facts.scale[0] if facts.scale else None
            zero_point = facts.zero_point[0] if facts.zero_point else None
        return cls(facts.name, tuple(facts.shape), np.dtype(facts.dtype), scale, zero_point,
                   facts.axis if len(facts.scale) > 1 else None, facts.type)

    def _along_axis(self, values: Any) -> Any:
        import numpy as np

        if self.axis is None:
            return values
        return np.asarray(values).reshape([-1 if d == self.axis else 1 for d in range(len(self.shape))])

    def quantise(self, values: Any) -> np.ndarray[Any, Any]:
        """Real numbers as elements of the tensor: divided by the scale, rounded (halves away from zero), and kept within
        the type's range. Of a tensor without a scale the numbers are only converted."""
        import numpy as np

        if self.scale is None:
            return np.asarray(values).astype(self.dtype, copy=False)
        steps = np.asarray(values, dtype=np.float32) / self._along_axis(np.asarray(self.scale, np.float32))
        # In double precision adding a half is exact, and so is the sum with the zero point.
        rounded = np.trunc(steps.astype(np.float64) + np.copysign(0.5, steps))
        bits = {"i4": 4}.get(self.type, 8 * self.dtype.itemsize)
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if self.dtype.kind == "i" else (0, 2**bits - 1)
        whole = np.nan_to_num(rounded, nan=0.0) + self._along_axis(self.zero_point)
        return np.asarray(np.clip(whole, low, high).astype(self.dtype))

    def dequantise(self, elements: Any) -> np.ndarray[Any, Any]:
        """The real numbers, float32, that elements stand for; unchanged where the tensor has no scale."""
        import numpy as np

        if self.scale is None:
            return np.asarray(elements)
        steps = np.asarray(elements).astype(np.int64) - self._along_axis(self.zero_point)
        return np.asarray(steps.astype(np.float32) * self._along_axis(np.asarray(self.scale, np.float32)))


class Model:
    """A model in the reference evaluator, whose results the compiled model's equal bit by bit (but on devices that say
    otherwise, the Ethos-N).

    >>> model = intarsia.Model("digits.tflite")
    >>> scores, = model(picture)            # in the model's own types
    >>> scores, = model(picture, quantise=True)  # real numbers in, real numbers out

    State (of streaming models) goes on from one call to the next; :meth:`reset` forgets it. Calls of several threads
    on one model wait for each other; other threads of Python go on meanwhile.

    :param model: the path of a ``.tflite`` or ``.onnx``, its bytes, or an object with ``SerializeToString()``.
    :param io: "int8": without the conversions from and to floats at the model's edges.
    :param shapes, input_values, widen_weights, signature: as :func:`intarsia.compile` has them.
    :raises Error: the model cannot be read, or is not supported.
    """

    def __init__(self, model: ModelLike, *, name: str | None = None, io: str = "float",
                 shapes: Mapping[str, Sequence[int]] | None = None,
                 input_values: Mapping[str, float | Sequence[float]] | None = None, widen_weights: bool = False, signature: str | None = None) -> None:
        held, path = bytes_of(model)
        self._reference = _core.make_reference(_resources.root(), held, options_of(
            path, {"name": name, "io": io, "shapes": shapes, "input_values": input_values, "widen_weights": widen_weights, "signature": signature}))
        self.inputs: tuple[Tensor, ...] = tuple(map(Tensor._of, self._reference.inputs))
        """In the order of the arguments of a call."""
        self.outputs: tuple[Tensor, ...] = tuple(map(Tensor._of, self._reference.outputs))
        """In the order of the results of a call."""

    @property
    def name(self) -> str:
        """Its name in C."""
        return self._reference.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided that nobody asked for: an open batch that became 1."""
        return tuple(self._reference.notes)

    @property
    def results(self) -> dict[str, Tensor]:
        """Every tensor that a run makes, by name: the keys of :meth:`run_all`."""
        return {name: Tensor._of(facts) for name, (facts, _, _) in self._reference.results().items()}

    def __call__(self, *arrays: object, quantise: bool = False) -> list[np.ndarray[Any, Any]]:
        """One inference.

        :param arrays: one for each input, of its shape and type: numpy arrays, or anything that has a buffer or speaks
            DLPack (PyTorch, JAX, TensorFlow). They are read where they lie; strided ones are copied first.
        :param quantise: arrays are of real numbers, which are quantised as each input says, and results are real
            numbers, float32. NaN is no element of an input of integers, and an Error; infinite ones are the type's ends.
        :return: one array for each output.
        :raises Error: an array has another shape or type than its input.
        """
        results = self._reference.run(operands(self.name, self.inputs, arrays, quantise=quantise))
        if quantise:
            return [tensor.dequantise(result) for tensor, result in zip(self.outputs, results)]
        return results

    def run_all(self, *arrays: object, quantise: bool = False) -> dict[str, np.ndarray[Any, Any]]:
        """One inference, with every tensor that it makes, by the name that it has in the model, in the order of the operators.

        Where a name is missing or is taken, it is that of the operator. Of a loop there are the results of its last round.
        The arguments are those of a call; with ``quantise`` every result is of real numbers.
        """
        results = self._reference.run_all(operands(self.name, self.inputs, arrays, quantise=quantise))
        if quantise:
            tensors = self.results
            return {name: tensors[name].dequantise(result) for name, result in results.items()}
        return results

    def reset(self) -> None:
        """Forgets the state of earlier calls."""
        self._reference.reset()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an intarsia.Model can neither be copied nor pickled: it has state; read the model's file again where it "
                        "is needed")

    def __repr__(self) -> str:
        def text(tensors: tuple[Tensor, ...]) -> str:
            return ", ".join(f"{tensor.name}: {tensor.dtype}{list(tensor.shape)}" for tensor in tensors)

        return f"<intarsia.Model {self.name}({text(self.inputs)}) -> {text(self.outputs)}>"
