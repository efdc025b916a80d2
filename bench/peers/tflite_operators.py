"""What the operators of a .tflite are called, without a package for flatbuffers: their kinds and their results, in the order of the file."""
import struct


class Table:
    """A table of a flatbuffer; fields by their numbers in TensorFlow's schema."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def place(self, field):
        """Where the field is, or None where it has its default."""
        vtable = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        if 4 + 2 * field >= struct.unpack_from("<H", self.data, vtable)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, vtable + 4 + 2 * field)[0]
        return self.at + offset if offset else None

    def number(self, field, form, default=0):
        place = self.place(field)
        return default if place is None else struct.unpack_from("<" + form, self.data, place)[0]

    def follow(self, place):
        return place + struct.unpack_from("<I", self.data, place)[0]

    def vector(self, field):
        """Its first element's place, and how many there are."""
        place = self.place(field)
        if place is None:
            return 0, 0
        start = self.follow(place)
        return start + 4, struct.unpack_from("<I", self.data, start)[0]

    def tables(self, field):
        first, count = self.vector(field)
        return [Table(self.data, self.follow(first + 4 * index)) for index in range(count)]

    def integers(self, field):
        first, count = self.vector(field)
        return struct.unpack_from(f"<{count}i", self.data, first)

    def text(self, field):
        first, count = self.vector(field)
        return self.data[first:first + count].decode()


# Numbers of fields in the schema: Model, OperatorCode, SubGraph, Operator, Tensor.
CODES, SUBGRAPHS = 1, 2
OLD_CODE, NEW_CODE = 0, 3
TENSORS, OPERATORS = 0, 3
CODE_INDEX, OUTPUTS = 0, 2
TENSOR_NAME = 3


def operators(path):
    """(number of the kind, name of the first result) of each operator of the first subgraph."""
    data = path.read_bytes()
    model = Table(data, struct.unpack_from("<I", data, 0)[0])
    # Kinds below 127 are in the older field.
    codes = [max(code.number(OLD_CODE, "b"), code.number(NEW_CODE, "i")) for code in model.tables(CODES)]
    graph = model.tables(SUBGRAPHS)[0]
    tensors = graph.tables(TENSORS)
    return [(codes[operator.number(CODE_INDEX, "I")], tensors[operator.integers(OUTPUTS)[0]].text(TENSOR_NAME))
            for operator in graph.tables(OPERATORS)]
