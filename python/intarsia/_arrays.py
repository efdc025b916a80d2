"""Arrays of users, as operands of a model."""

from __future__ import annotations

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


def operand(index: int, tensor: Tensor, value: object, *, quantise: bool) -> np.ndarray[Any, Any]:
    """``value`` as a C-contiguous array of the tensor's type and shape, or an Error that says what is wrong with it."""
    import numpy as np

    where = f"input {index} '{tensor.name}'" if tensor.name else f"input {index}"
    array = as_array(where, value)
    shape = "x".join(map(str, tensor.shape)) if tensor.shape else "a single number"
    if array.shape != tensor.shape:
        is_same = array.size == np.prod(tensor.shape, dtype=np.int64)
        hint = f"x.reshape({tensor.shape})" if is_same else f"give an array of shape {tensor.shape}"
        raise error(where, f"has shape {array.shape}, the model takes {shape}", hint)
    if quantise:
        if array.dtype.kind not in "fiub":
            raise error(where, f"has elements of type {array.dtype}", "give real numbers, as floats")
        return np.ascontiguousarray(tensor.quantise(array))
    if array.dtype != tensor.dtype:
        is_real = array.dtype.kind == "f" and tensor.scale is not None
        hint = ("pass quantise=True for real numbers, which are then quantised as the model says" if is_real
                else f"x.astype('{tensor.dtype}'), where that keeps the values")
        raise error(where, f"has elements of type {array.dtype}, the model takes {tensor.dtype}", hint)
    return np.ascontiguousarray(array)
