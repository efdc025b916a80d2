"""Float activations on integer weights: convolutions, dense layers, products, embeddings. make_litert_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, options, rng_of

SAME, VALID = 0, 1
CASES = case = Cases()


def weights_of(g, rng, shape, channels, axis, per_channel=True):
    values = rng.integers(-127, 128, shape)
    scale = rng.uniform(0.005, 0.03, channels).astype(np.float32) if per_channel else [0.02]
    return g.constant(values, np.int8, scale=scale, axis=axis)


def hybrid_conv(name, per_channel, stride=1, dilation=1, padding=SAME, batch=2):
    model = Model()
    g = model.subgraph()
    rng = rng_of(name)
    x = g.tensor([batch, 6, 7, 3])
    weights = weights_of(g, rng, (4, 3, 3, 3), 4, 0, per_channel)
    bias = g.constant(rng.uniform(-1, 1, 4), np.float32)
    extent = [(-(-n // stride) if padding == SAME else (n - 2 * dilation - 1) // stride + 1) for n in (6, 7)]
    y = g.tensor([batch, *extent, 4])
    g.op("CONV_2D", [x, weights, bias], [y],
         options("Conv2DOptions", padding=padding, strideH=stride, strideW=stride, dilationHFactor=dilation,
                 dilationWFactor=dilation, fusedActivationFunction=1), version=5)
    g.inputs(x)
    g.outputs(y)
    return model


@case
def hybrid_conv_per_tensor():
    return hybrid_conv("a", False)


@case
def hybrid_conv_per_channel():
    return hybrid_conv("b", True, stride=2)


@case
def hybrid_conv_dilated():
    return hybrid_conv("c", True, dilation=2, padding=VALID)


@case
def hybrid_depthwise():
    model = Model()
    g = model.subgraph()
    rng = rng_of("hybrid_depthwise")
    x, y = g.tensor([2, 6, 7, 3]), g.tensor([2, 3, 4, 6])
    weights = weights_of(g, rng, (1, 3, 3, 6), 6, 3)
    bias = g.constant(rng.uniform(-1, 1, 6), np.float32)
    g.op("DEPTHWISE_CONV_2D", [x, weights, bias], [y],
         options("DepthwiseConv2DOptions", padding=SAME, strideH=2, strideW=2, depthMultiplier=2,
                 fusedActivationFunction=3), version=6)
    g.inputs(x)
    g.outputs(y)
    return model


def hybrid_dense(name, per_channel, asymmetric, bias=True):
    """Two layers on one input, one of them of rows that stay rows."""
    model = Model()
    g = model.subgraph()
    rng = rng_of(name)
    x, y, z = g.tensor([2, 3, 11]), g.tensor([6, 5]), g.tensor([2, 3, 4])
    for out, filters, keeps in ((y, 5, False), (z, 4, True)):
        weights = weights_of(g, rng, (filters, 11), filters, 0, per_channel)
        offsets = g.constant(rng.uniform(-1, 1, filters), np.float32) if bias else -1
        g.op("FULLY_CONNECTED", [x, weights, offsets], [out],
             options("FullyConnectedOptions", asymmetricQuantizeInputs=asymmetric, keepNumDims=keeps), version=9)
    g.inputs(x)
    g.outputs(y, z)
    return model


@case
def hybrid_dense_symmetric():
    return hybrid_dense("d", False, False)


@case
def hybrid_dense_asymmetric():
    return hybrid_dense("e", False, True)


@case
def hybrid_dense_per_channel():
    return hybrid_dense("f", True, True, bias=False)


@case
def hybrid_dense_of_zeros():
    """Rows of zeros have no range."""
    model = hybrid_dense("g", False, True)
    values = np.zeros((2, 3, 11), np.float32)
    values[1, 1, 4] = -2
    model.values = [values]
    return model


@case
def hybrid_batch_matmul():
    """A matrix as it is and one that is transposed, both of them constant."""
    model = Model()
    g = model.subgraph()
    rng = rng_of("hybrid_batch_matmul")
    x, y, z = g.tensor([2, 3, 7]), g.tensor([2, 3, 5]), g.tensor([2, 3, 4])
    plain = weights_of(g, rng, (7, 5), 5, 1)
    turned = weights_of(g, rng, (4, 7), 4, 0, False)
    g.op("BATCH_MATMUL", [x, plain], [y], options("BatchMatMulOptions"), version=3)
    g.op("BATCH_MATMUL", [x, turned], [z], options("BatchMatMulOptions", adjY=True, asymmetricQuantizeInputs=True),
         version=3)
    g.inputs(x)
    g.outputs(y, z)
    return model


@case
def hybrid_batch_matmul_matrices():
    """By a constant matrix for each of the batch: as it is, and transposed with inputs that have zero points."""
    model = Model()
    g = model.subgraph()
    rng = rng_of("hybrid_batch_matmul_matrices")
    x, y, z = g.tensor([1, 3, 2, 7]), g.tensor([1, 3, 2, 5]), g.tensor([1, 3, 2, 4])
    plain = weights_of(g, rng, (1, 3, 7, 5), 5, 3, False)
    turned = weights_of(g, rng, (1, 3, 4, 7), 4, 2, False)
    g.op("BATCH_MATMUL", [x, plain], [y], options("BatchMatMulOptions"), version=3)
    g.op("BATCH_MATMUL", [x, turned], [z], options("BatchMatMulOptions", adjY=True, asymmetricQuantizeInputs=True), version=3)
    g.inputs(x)
    g.outputs(y, z)
    return model


@case
def hybrid_embedding():
    model = Model()
    g = model.subgraph()
    rows, y = g.tensor([4], np.int32), g.tensor([4, 6])
    table = weights_of(g, rng_of("hybrid_embedding"), (9, 6), 1, 0, False)
    g.op("EMBEDDING_LOOKUP", [rows, table], [y])
    g.inputs(rows)
    g.outputs(y)
    model.values = [np.array([8, 0, 3, 3], dtype=np.int32)]
    return model
