"""The models that are compared, and seeded inputs for them."""
import random
import struct
import zlib

from .machine import ROOT

ELEMENT_BYTES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "i32": 4, "i64": 8, "f32": 4}
# Where a model is given by a path, its folder names it when its file is called like every other.
PLAIN_NAMES = ("model", "trained")


class Model:
    def __init__(self, path):
        self.path = path.resolve()
        self.name = path.parent.name if path.stem in PLAIN_NAMES else path.stem


def networks(machine):
    """Those of the repository, then the recorded ones beside it."""
    paths = [ROOT / "examples" / "digits" / "digits.tflite", *sorted((ROOT / "tests/golden/models").glob("*/model.tflite")),
             *sorted((machine.shared / "models").glob("*/model.tflite"))]
    return [Model(path) for path in paths]


def operator_cases(machine):
    return [Model(path) for folder in (ROOT / "tests/golden/operators", machine.shared / "conformance")
            for path in sorted(folder.glob("*/model.tflite"))]


def seeded(model, index, tensor, samples):
    """Bytes of `samples` inputs: integers over their whole range, floats of a normal distribution; the same everywhere."""
    generator = random.Random(zlib.crc32(f"{model.name}/{index}".encode()))
    kind, size = tensor["type"], tensor["bytes"] * samples
    if kind == "f32":
        return struct.pack(f"<{size // 4}f", *(generator.gauss(0, 1) for _ in range(size // 4)))
    if kind == "bool":
        return bytes(generator.getrandbits(1) for _ in range(size))
    return generator.randbytes(size)


def differing(first, second, element_bytes):
    """How many elements have other bytes; all where the sizes differ."""
    if len(first) != len(second):
        return max(len(first), len(second)) // element_bytes
    return sum(first[at:at + element_bytes] != second[at:at + element_bytes]
               for at in range(0, len(first), element_bytes))
