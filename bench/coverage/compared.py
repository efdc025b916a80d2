"""Two results of the same network, element by element."""
import array
import math

CODES = {"bool": "B", "i8": "b", "u8": "B", "i16": "h", "i32": "i", "i64": "q", "f32": "f"}
TOLERANCE = 4e-5  # of floats, of the magnitude or of 1


def floats_agree(a, b):
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= TOLERANCE * max(1.0, abs(b))


def difference(ours, theirs, kind):
    """"" where they agree: integers bit by bit, floats to 4 parts in 100,000."""
    if len(ours) != len(theirs):
        return f"{len(ours)} bytes, not {len(theirs)}"
    first, second = array.array(CODES[kind], ours), array.array(CODES[kind], theirs)
    agree = floats_agree if kind == "f32" else (lambda a, b: a == b)
    apart = [abs(a - b) for a, b in zip(first, second) if not agree(a, b)]
    return f"{len(apart)} of {len(first)} elements differ, by {max(apart):.6g} at most" if apart else ""
