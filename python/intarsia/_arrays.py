"""Arrays of users, as operands of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from intarsia._errors import error

if TYPE_CHECKING:
    import numpy as np

    from intarsia._model import Tensor

_CPU = 1  # of DLPack's device types


def as_array(where: str, value: object) -> np.ndarray[Any, Any]:
    """Any array-like as a numpy array: without a copy where it has a buffer, or speaks DLPack and lies in the CPU's memory."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return value
    device = getattr(value, "__dlpack_device__", None)
    try:
        if device is not None and device()[0] != _CPU:
            raise error(where, "lies in the memory of another device", "copy it to the CPU first: x.cpu() in PyTorch")
        if device is not None:
            return np.from_dlpack(value)  # type: ignore[arg-type]
        return np.asarray(value)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as trouble:
        raise error(where, f"cannot be read as an array ({type(trouble).__name__}: {trouble})",
                    "give a numpy array; of a tensor that has gradients: x.detach().numpy()") from trouble


def operand(index: int, tensor: Tensor, value: object, *, quantise: bool, samples: int | None = None) -> np.ndarray[Any, Any]:
    """``value`` as a C-contiguous array of the tensor's type and shape, or an Error that says what is wrong with it.

    With ``samples`` it has that extent in front of the tensor's; the tensor's own first extent may be missing where it is 1.
    """
    import numpy as np

    where = f"input {index} '{tensor.name}'" if tensor.name else f"input {index}"
    array = as_array(where, value)
    wanted = tensor.shape if samples is None else (samples, *tensor.shape)
    if samples is not None and tensor.shape[:1] == (1,) and array.shape == (samples, *tensor.shape[1:]):
        array = array.reshape(wanted)
    if array.shape != wanted:
        is_same = array.size == np.prod(wanted, dtype=np.int64)
        hint = f"x.reshape({wanted})" if is_same else f"give an array of shape {wanted}"
        raise error(where, f"has shape {array.shape}, the model takes {wanted}", hint)
    if quantise:
        # The small floats of ml_dtypes are no numbers to numpy, but become ones.
        if array.dtype.kind not in "fiub" and not np.can_cast(array.dtype, np.float64):
            raise error(where, f"has elements of type {array.dtype}", "give real numbers, as floats")
        # A tensor of integers has no element for it, whatever the scale: the zero point would be a number that nobody gave.
        if tensor.dtype.kind in "iu" and array.dtype.kind not in "iub" and np.isnan(array.astype(np.float32, copy=False)).any():
            raise error(where, "has elements that are NaN, which no quantised number stands for", "replace them first: numpy.nan_to_num(x)")
        return np.ascontiguousarray(tensor.quantise(array))
    if tensor.type == "i4":
        array = _four_bits(where, array)
    if array.dtype != tensor.dtype:
        is_real = tensor.scale is not None and (
            array.dtype.kind == "f" or (array.dtype.kind not in "iub" and np.can_cast(array.dtype, np.float64)))
        hint = ("pass quantise=True for real numbers, which are then quantised as the model says" if is_real
                else f"x.astype('{tensor.dtype}'), where that keeps the values")
        raise error(where, f"has elements of type {array.dtype}, the model takes {tensor.dtype}", hint)
    # Of a scalar this would make an array with an extent.
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _four_bits(where: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Elements of four bits as int8, which numpy has; those of ml_dtypes are bytes too."""
    import numpy as np

    if array.dtype.name == "int4":
        return array.astype(np.int8)
    if array.dtype == np.int8 and array.size and (array.min() < -8 or array.max() > 7):
        raise error(where, f"has elements from {array.min()} to {array.max()}, the model takes integers of 4 bits",
                    "give int8 from -8 to 7; pass quantise=True for real numbers, which are then quantised as the model says")
    return array


def _check_count(model: str, tensors: Sequence[Tensor], arrays: Sequence[object]) -> None:
    if len(arrays) != len(tensors):
        names = ", ".join(repr(tensor.name) for tensor in tensors)
        raise error(model, f"takes {len(tensors)} input{'' if len(tensors) == 1 else 's'} ({names}), got {len(arrays)}", "give one array for each")


def operands(model: str, tensors: Sequence[Tensor], arrays: Sequence[object], *, quantise: bool) -> list[np.ndarray[Any, Any]]:
    """Of one inference."""
    _check_count(model, tensors, arrays)
    return [operand(index, tensor, array, quantise=quantise) for index, (tensor, array) in enumerate(zip(tensors, arrays))]


def sample_operands(model: str, tensors: Sequence[Tensor], arrays: Sequence[object], *,
                    quantise: bool) -> tuple[list[np.ndarray[Any, Any]], int]:
    """Of many inferences, and how many: each array has an extent more than its tensor, that of the samples.

    An array with one sample is that of all, where others have several.
    """
    import numpy as np

    _check_count(model, tensors, arrays)
    found = [as_array(f"input {index} '{tensor.name}'", array) for index, (tensor, array) in enumerate(zip(tensors, arrays))]
    counts = [1 if array.shape == tensor.shape else array.shape[0] if array.ndim else 0 for tensor, array in zip(tensors, found)]
    samples = max(counts, default=0)
    if samples == 0 or 0 in counts:
        raise error(model, "there are no samples", "give arrays whose first extent is the number of samples")
    given = []
    for index, (tensor, array, count) in enumerate(zip(tensors, found, counts)):
        one = operand(index, tensor, array.reshape(1, *tensor.shape) if array.shape == tensor.shape else array,
                      quantise=quantise, samples=1 if count == 1 else samples)
        given.append(one if count != 1 or samples == 1 else np.ascontiguousarray(np.broadcast_to(one, (samples, *tensor.shape))))
    return given, samples
