"""Random operators of uint8, as files have them that TensorFlow 1 quantised: one scale and a zero point for all weights."""
from operators import OPERATORS, U8, operator

# Not FULLY_CONNECTED, whose sums LiteRT scales as floats (docs/operators.md).
NAMES = ("ADD", "SUB", "MUL", "MINIMUM", "MAXIMUM", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "AVERAGE_POOL_2D",
         "MAX_POOL_2D", "RELU", "RELU6", "LEAKY_RELU", "HARD_SWISH", "PRELU", "LOGISTIC", "TANH", "SOFTMAX", "MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN",
         "ARG_MAX", "CONCATENATION", "PAD", "PADV2", "MIRROR_PAD", "STRIDED_SLICE", "TRANSPOSE", "SPLIT", "RESIZE_NEAREST_NEIGHBOR",
         "RESIZE_BILINEAR", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "GREATER", "LESS_EQUAL", "EQUAL", "PACK", "UNPACK", "SLICE", "GATHER", "TILE",
         "RESHAPE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "SELECT_V2", "REVERSE_V2", "SPLIT_V",
         "ARG_MIN", "TOPK_V2", "CAST", "GATHER_ND", "DYNAMIC_UPDATE_SLICE", "BROADCAST_TO", "SQUEEZE", "EXPAND_DIMS")


def of_uint8(function):
    def drawn(d, name):
        d.kind = U8
        plain = name.removesuffix(":uint8")
        return function(d, plain) if function.__code__.co_argcount == 2 else function(d)
    return drawn


for each in NAMES:
    operator(each + ":uint8")(of_uint8(OPERATORS[each]))
