"""Constants of which the file stores only what is not zero, made dense by DENSIFY. make_litert_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, fb, options

SAME = 0
DENSE, CSR = 0, 1
CASES = case = Cases()


def numbers(values):
    """In the narrowest of the format's vectors."""
    values = [int(value) for value in values]
    for name, largest in (("Uint8Vector", 255), ("Uint16Vector", 65535), ("Int32Vector", 2**31 - 1)):
        if max(values, default=0) <= largest:
            made = getattr(fb, name + "T")()
            made.values = values
            return getattr(fb.SparseIndexVector, name), made


def dimension(dense_size=0, segments=None, indices=None):
    made = fb.DimensionMetadataT()
    made.format = DENSE if segments is None else CSR
    made.denseSize = dense_size
    if segments is not None:
        made.arraySegmentsType, made.arraySegments = numbers(segments)
        made.arrayIndicesType, made.arrayIndices = numbers(indices)
    return made


def store(g, values, order, sparse_level, blocks=()):
    """A constant stored in this order, of which one level keeps the places where anything is not zero. `blocks`: (dimension, size)
    of each, stored behind the dimensions."""
    rank = values.ndim
    split = list(values.shape)
    for axis, size in blocks:
        split[axis] //= size
    # Every blocked dimension as two, and all in the order of storage.
    shape, place = [], {}
    for axis in range(rank):
        place[axis] = len(shape)
        shape.append(split[axis])
        for number, (blocked, size) in enumerate(blocks):
            if blocked == axis:
                place[rank + number] = len(shape)
                shape.append(size)
    stored = values.reshape(shape).transpose([place[level] for level in order])
    rows = stored.reshape(int(np.prod(stored.shape[:sparse_level])), stored.shape[sparse_level], -1)
    kept = np.any(rows != 0, axis=2)
    segments = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    indices = np.concatenate([np.flatnonzero(row) for row in kept])
    made = fb.SparsityParametersT()
    made.traversalOrder = list(order)
    made.blockMap = [axis for axis, _ in blocks]
    made.dimMetadata = [dimension(segments=segments, indices=indices) if level == sparse_level else dimension(extent)
                        for level, extent in enumerate(stored.shape)]
    tensor = g.constant(values, values.dtype.type)
    g.model.model.buffers[g.graph.tensors[tensor].buffer].data = np.frombuffer(rows[kept].tobytes(), np.uint8)
    g.graph.tensors[tensor].sparsity = made
    return tensor


def pruned(rng, shape, kind, part=0.7):
    values = rng.uniform(-1, 1, shape) if kind is not np.int8 else rng.integers(-127, 128, shape)
    return np.where(rng.uniform(size=shape) < part, 0, values).astype(kind)


@case
def sparse_half_network():
    """As MediaPipe's networks are: float16, the inputs of each output channel and place."""
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(81)
    x, y = g.tensor([1, 5, 4, 6]), g.tensor([1, 5, 4, 3])
    weights = store(g, pruned(rng, (3, 3, 3, 6), np.float16), [0, 1, 2, 3], 3)
    half, real = g.tensor([3, 3, 3, 6], np.float16), g.tensor([3, 3, 3, 6])
    g.op("DENSIFY", [weights], [half])
    g.op("DEQUANTIZE", [half], [real], version=3)
    bias = g.constant(rng.uniform(-1, 1, 3), np.float32)
    g.op("CONV_2D", [x, real, bias], [y], options("Conv2DOptions", padding=SAME, strideH=1, strideW=1))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def sparse_blocks():
    """Blocks of one row by four columns, of a matrix stored column by column."""
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(82)
    x, y = g.tensor([2, 16]), g.tensor([2, 6])
    values = pruned(rng, (6, 4, 1), np.float32) * np.ones((1, 1, 4), np.float32)
    values = (values.reshape(6, 16) * rng.uniform(0.5, 1.5, (6, 16))).astype(np.float32)
    weights, real = store(g, values, [1, 0, 2], 1, blocks=[(1, 4)]), g.tensor([6, 16])
    g.op("DENSIFY", [weights], [real])
    g.op("FULLY_CONNECTED", [x, real, -1], [y], options("FullyConnectedOptions"))
    g.inputs(x)
    g.outputs(y)
    return model


@case
def sparse_bytes():
    """int8, of which more than 255 are stored."""
    model = Model()
    g = model.subgraph()
    rng = np.random.default_rng(83)
    x, y = g.tensor([1, 3, 3, 40], np.int8, scale=0.05, zero=3), g.tensor([1, 3, 3, 24], np.int8, scale=0.2, zero=-5)
    weights = store(g, pruned(rng, (24, 1, 1, 40), np.int8), [0, 1, 2, 3], 3)
    g.graph.tensors[weights].quantization = scale_of(0.01)
    whole = g.tensor([24, 1, 1, 40], np.int8, scale=0.01)
    bias = g.constant(rng.integers(-800, 800, 24), np.int32, scale=0.0005)
    g.op("DENSIFY", [weights], [whole])
    g.op("CONV_2D", [x, whole, bias], [y], options("Conv2DOptions", padding=SAME, strideH=1, strideW=1))
    g.inputs(x)
    g.outputs(y)
    return model


def scale_of(scale):
    made = fb.QuantizationParametersT()
    made.scale, made.zeroPoint = [np.float32(scale)], [0]
    return made
