"""Random operators that move elements and compute nothing: repeated, gathered, joined, cut, reversed."""
import numpy as np
from operators import F32, I8, I16, operator
from tflite_writer import options


def integers_with_batches(d):
    """Not int16, of which neither peer has every one of these."""
    if d.kind is I16:
        d.kind = I8


@operator("TILE")
def tile(d):
    shape, q = d.shape(1, 4, 5), d.quantisation()
    times = [d.pick(1, 1, 2, 3) for _ in shape]
    x, y = d.tensor(shape, **q), d.tensor([n * m for n, m in zip(shape, times)], **q)
    d.g.op("TILE", [x, d.g.constant(times)], [y], options("TileOptions"))
    return d.done([x], [y])


@operator("BROADCAST_TO")
def broadcast_to(d):
    shape, q = d.shape(1, 4, 5), d.quantisation()
    cut = [1 if d.chance(50) else n for n in shape]
    cut = cut[d.whole(0, len(cut) - 1):]
    x, y = d.tensor(cut, **q), d.tensor(shape, **q)
    d.g.op("BROADCAST_TO", [x, d.g.constant(shape)], [y], options("BroadcastToOptions"), 2)
    return d.done([x], [y])


@operator("GATHER")
def gather(d):
    shape, q = d.shape(1, 4, 6), d.quantisation()
    axis = d.whole(0, len(shape) - 1)
    taken = [d.whole(1, 5)] if d.chance(70) else [d.whole(1, 3), d.whole(1, 3)]
    places = d.rng.integers(0, shape[axis], taken)
    x, y = d.tensor(shape, **q), d.tensor(shape[:axis] + taken + shape[axis + 1:], **q)
    d.g.op("GATHER", [x, d.g.constant(places)], [y], options("GatherOptions", axis=axis - (len(shape) if d.chance(30) else 0)), 2)
    return d.done([x], [y])


@operator("GATHER_ND")
def gather_nd(d):
    shape, q = d.shape(1, 4, 5), d.quantisation()
    depth, taken = d.whole(1, len(shape)), [d.whole(1, 4)]
    places = np.stack([d.rng.integers(0, n, taken) for n in shape[:depth]], axis=-1)
    x, y = d.tensor(shape, **q), d.tensor(taken + shape[depth:], **q)
    d.g.op("GATHER_ND", [x, d.g.constant(places)], [y], options("GatherNdOptions"))
    return d.done([x], [y])


@operator("SCATTER_ND")
def scatter_nd(d):
    shape, q = d.shape(1, 3, 5), d.quantisation()
    q = {**q, "zero": 0} if q else q
    depth = d.whole(1, len(shape))
    # No place twice: the order of sums is nobody's promise.
    all_places = np.stack(np.meshgrid(*[np.arange(n) for n in shape[:depth]], indexing="ij"), axis=-1).reshape(-1, depth)
    places = d.rng.permutation(all_places)[:d.whole(1, len(all_places))]
    x, y = d.tensor([len(places)] + shape[depth:], **q), d.tensor(shape, **q)
    d.g.op("SCATTER_ND", [d.g.constant(places), x, d.g.constant(shape)], [y], options("ScatterNdOptions"))
    return d.done([x], [y])


@operator("PACK")
def pack(d):
    shape, q = d.shape(1, 3, 5), d.quantisation()
    count, axis = d.whole(1, 4), d.whole(0, len(shape))
    inputs = [d.tensor(shape, **q) for _ in range(count)]
    y = d.tensor(shape[:axis] + [count] + shape[axis:], **q)
    d.g.op("PACK", inputs, [y], options("PackOptions", valuesCount=count, axis=axis), 2)
    return d.done(inputs, [y])


@operator("UNPACK")
def unpack(d):
    shape, q = d.shape(2, 4, 4), d.quantisation()
    axis = d.whole(0, len(shape) - 1)
    x = d.tensor(shape, **q)
    outputs = [d.tensor(shape[:axis] + shape[axis + 1:], **q) for _ in range(shape[axis])]
    d.g.op("UNPACK", [x], outputs, options("UnpackOptions", num=shape[axis], axis=axis), 2)
    return d.done([x], outputs)


@operator("REVERSE_V2")
def reverse(d):
    shape, q = d.shape(1, 4), d.quantisation()
    first = d.whole(0, len(shape) - 1)
    axes = list(range(first, d.whole(first, len(shape) - 1) + 1))
    x, y = d.tensor(shape, **q), d.tensor(shape, **q)
    d.g.op("REVERSE_V2", [x, d.g.constant(axes)], [y], options("ReverseV2Options"), 2)
    return d.done([x], [y])


@operator("SLICE")
def cut(d):
    shape, q = d.shape(1, 4, 8), d.quantisation()
    begin = [d.whole(0, n - 1) for n in shape]
    size = [d.whole(1, n - b) for n, b in zip(shape, begin)]
    said = [-1 if b + s == n and d.chance(50) else s for b, s, n in zip(begin, size, shape)]
    x, y = d.tensor(shape, **q), d.tensor(size, **q)
    d.g.op("SLICE", [x, d.g.constant(begin), d.g.constant(said)], [y], options("SliceOptions"), 2)
    return d.done([x], [y])


@operator("SPLIT_V")
def split_v(d):
    sizes, shape = [d.whole(1, 4) for _ in range(d.whole(1, 4))], d.shape(1, 4, 5)
    axis, q = d.whole(0, len(shape) - 1), d.quantisation()
    x = d.tensor(shape[:axis] + [sum(sizes)] + shape[axis + 1:], **q)
    outputs = [d.tensor(shape[:axis] + [n] + shape[axis + 1:], **q) for n in sizes]
    d.g.op("SPLIT_V", [x, d.g.constant(sizes), d.g.constant(axis)], outputs, options("SplitVOptions", numSplits=len(sizes)), 2)
    return d.done([x], outputs)


@operator("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")
def batches(d, name):
    integers_with_batches(d)
    b, c, q = d.whole(1, 2), d.extent(5), d.quantisation()
    block = [d.whole(1, 3), d.whole(1, 3)]
    size = [d.extent(4) * block[0], d.extent(4) * block[1]]
    cut = []  # what is padding before, and behind, in the whole image
    for n in size:
        before = d.whole(0, min(2, n - 1))
        cut.append([before, d.whole(0, min(2, n - 1 - before))])
    image = [b] + [n - sum(p) for n, p in zip(size, cut)] + [c]
    many = [b * block[0] * block[1], size[0] // block[0], size[1] // block[1], c]
    x, y = (image, many) if name == "SPACE_TO_BATCH_ND" else (many, image)
    # TFLite Micro pads with what its memory happens to hold.
    if name == "SPACE_TO_BATCH_ND":
        d.model.peers = ("LiteRT",)
    x, y = d.tensor(x, **q), d.tensor(y, **q)
    d.g.op(name, [x, d.g.constant(block), d.g.constant(cut)], [y],
           options("SpaceToBatchNDOptions" if name == "SPACE_TO_BATCH_ND" else "BatchToSpaceNDOptions"), 2)
    return d.done([x], [y])


@operator("DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(d):
    shape, q = d.shape(1, 4, 5), d.quantisation()
    part = [d.whole(1, n) for n in shape]
    x, update, y = d.tensor(shape, **q), d.tensor(part, **q), d.tensor(shape, **q)
    # What would reach beyond the end begins earlier.
    start = [d.whole(0, n - 1) for n in shape]
    d.g.op("DYNAMIC_UPDATE_SLICE", [x, update, d.g.constant(start)], [y])
    return d.done([x, update], [y])


@operator("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
def reshape(d, name):
    shape, q = d.shape(1, 4), d.quantisation()
    axis = d.whole(0, len(shape))
    longer = shape[:axis] + [1] + shape[axis:]
    before, after = (longer, shape) if name == "SQUEEZE" else (shape, longer)
    x, y = d.tensor(before, **q), d.tensor(after, **q)
    if name == "RESHAPE":
        d.g.op(name, [x, d.g.constant(after)], [y], options("ReshapeOptions", newShape=after))
    elif name == "SQUEEZE":
        d.g.op(name, [x], [y], options("SqueezeOptions", squeezeDims=[axis]))
    else:
        d.g.op(name, [x, d.g.constant(axis)], [y], options("ExpandDimsOptions"))
    return d.done([x], [y])


@operator("ONE_HOT")
def one_hot(d):
    if d.kind is not F32:
        d.kind = I8
    shape, depth = d.shape(1, 3, 4), d.whole(1, 6)
    axis = d.whole(0, len(shape))
    kind = F32 if d.kind is F32 else np.int32
    x = d.g.tensor(shape, np.int32)
    y = d.g.tensor(shape[:axis] + [depth] + shape[axis:], kind)
    d.model.range = (-1, depth)
    on, off = (d.g.constant(v, kind) for v in (3, -2))
    d.g.op("ONE_HOT", [x, d.g.constant(depth), on, off], [y],
           options("OneHotOptions", axis=axis if axis < len(shape) else -1))
    return d.done([x], [y])
