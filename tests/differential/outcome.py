"""What both comparisons do with a case: run it, keep it, and look for the first element that differs from a peer's."""
import pathlib

import numpy as np


def run_ours(content, inputs, target):
    """("", our results); where there are none, whether the model is refused or its run fails, and why."""
    import intarsia
    try:
        model = intarsia.Simulator(content, target=target) if target else intarsia.Model(content)
    except intarsia.Error as error:
        return "refused", str(error).splitlines()[0]
    try:
        results = model(*inputs)
    except intarsia.Error as error:
        return "fails", str(error).splitlines()[0]
    return "", results if isinstance(results, (list, tuple)) else [results]


def difference(ours, theirs, steps=None):
    """Nothing, or the first element that differs. `steps`: by how much floats of each output may, which stand for quantised values."""
    for number, (a, b) in enumerate(zip(ours, theirs)):
        a, b = np.asarray(a).reshape(-1), np.asarray(b).reshape(-1)
        if a.size != b.size:
            return f"output {number} has {a.size} elements, not {b.size}"
        if b.dtype == np.float32:
            # Where the sum of many terms is near zero, its last bits are those of the terms.
            bound = steps[number] * 1.001 if steps else 4e-5 * np.maximum(1, np.abs(b))
            with np.errstate(invalid="ignore"):
                wrong = ~((np.abs(a - b) <= bound) | (a == b) | (np.isnan(a) & np.isnan(b)))
        else:
            wrong = a != b
        if wrong.any():
            at = int(np.argmax(wrong))
            return f"output {number}, element {at}: {a[at]}, not {b[at]} ({int(wrong.sum())} of {a.size})"
    return None


def keep_case(folder, file, content, **tensors):
    """The model, and tensors by the beginning of their files' names."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(content)
    for begin, values in tensors.items():
        for i, value in enumerate(values):
            (folder / f"{begin}{i}.bin").write_bytes(np.ascontiguousarray(value).tobytes())
