"""Scales whose quotients are off by a step in single precision. make_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model

I8, I16 = np.int8, np.int16
CASES = case = Cases()


def exact_scale(op, kind, quants, values):
    """Scales whose quotient in single precision would put some of these values a step beside."""
    model = Model()
    g = model.subgraph()
    values = np.array(values, kind).reshape(2, -1)
    x, y = (g.tensor(values.shape, kind, scale, zero) for scale, zero in quants)
    g.op(op, [x], [y])
    g.inputs(x)
    g.outputs(y)
    model.values = [values]
    return model


ALL_BYTES = range(-128, 128)


@case
def rsqrt_s16():
    some = [2394, 3806, 5577, 6966, 6967]
    return exact_scale("RSQRT", I16, [(0.0007433941983010067, 0), (2.3089304648643513e-05, 0)],
                       [*range(0, 32767, 23), *range(1, 128), 32767, *some])


@case
def rsqrt_coarse_s16():
    return exact_scale("RSQRT", I16, [(3e-4, 0), (1.7e-3, 0)], [*range(0, 32767, 23), 32767])


@case
def rsqrt_exact_scale_s8():
    return exact_scale("RSQRT", I8, [(0.00061199785, -128), (0.0858304128, 0)], ALL_BYTES)


@case
def abs_exact_scale_s8():
    return exact_scale("ABS", I8, [(0.00515151512, -128), (0.00836312864, 0)], ALL_BYTES)


@case
def abs_exact_scale_s16():
    return exact_scale("ABS", I16, [(0.0010305772, 0), (0.0029512844, 0)],
                       [*range(-32768, 32768, 311), 14431, 15986, 17541, 19096, -14431])


@case
def relu_exact_scale_s8():
    return exact_scale("RELU", I8, [(0.015913146, -100), (0.030777073, -128)], ALL_BYTES)


@case
def relu_exact_scale_s16():
    return exact_scale("RELU", I16, [(0.0003413085, 0), (0.0003301268, 0)], range(-51 * 620, 32768, 310))


@case
def hard_swish_exact_scale_s8():
    return exact_scale("HARD_SWISH", I8, [(0.002563773, -3), (0.0031506203, 4)], ALL_BYTES)
