"""Cases of make_layers.py: operators that onnxruntime joins when it optimises a model, and its products with packed weights."""
import numpy as np


class Fused:
    """`layers` is make_layers.py, whose random numbers are each case's own."""

    def __init__(self, layers):
        self.layers = layers

    def random(self, *shape):
        return self.layers.random(*shape)

    def case(self, kind, operands, outputs=("y",), given=1, **attributes):
        return self.layers.Case(kind, operands, list(outputs), given=given, domain="com.microsoft", **attributes)

    def packed(self, bits, rows, columns, block, zeros):
        """Weights of few bits, lowest first, a scale for each block of a row, and zero points packed alike."""
        random, blocks, top = self.layers.RNG, -(-columns // block), 1 << bits

        def pack(numbers):
            per = 8 // bits
            numbers = np.pad(numbers, [(0, 0), (0, -numbers.shape[1] % per)]).reshape(len(numbers), -1, per)
            return (numbers << (bits * np.arange(per))).sum(-1).astype(np.uint8)

        weights = pack(random.integers(0, top, (rows, blocks * block))).reshape(rows, blocks, -1)
        scales = (0.01 + 0.1 * random.random((rows, blocks))).astype(np.float32)
        return weights, scales, pack(random.integers(0, top, (rows, blocks))) if zeros else None

    def matmul_n_bits(self, bits, columns, zeros=True, bias=False):
        weights, scales, points = self.packed(bits, 6, columns, 16, zeros)
        operands = [self.random(3, columns), weights, scales.ravel(), points.ravel() if zeros else None, None, self.random(6) if bias else None]
        while operands[-1] is None:
            operands.pop()
        return self.case("MatMulNBits", operands, K=columns, N=6, bits=bits, block_size=16)

    def rows_of_few_bits(self):
        weights, scales, points = self.packed(4, 9, 32, 16, True)
        case = self.case("GatherBlockQuantized", [weights.reshape(9, -1), np.int64([[3, 0], [8, 5]]), scales, points], given=2, bits=4, block_size=16,
                         quantize_axis=1)
        case.constants.append(case.inputs.pop(0))
        return case

    def embedded(self, segments, places):
        words, random = np.int32([[3, 1, 4, 1], [5, 0, 2, 6]]), self.random
        operands = [words, np.int32(words % 2) if segments else None, random(7, 8), random(5, 8), random(2, 8) if segments else None, random(8),
                    random(8), None, np.int32([[0, 1, 2, 3], [1, 2, 3, 4]])]
        return self.case("EmbedLayerNormalization", operands if places else operands[:7], ["y", "", "sum"] if places else ["y", ""], epsilon=1e-6)

    def projected(self, mask=None, **attributes):
        width = sum(attributes.get("qkv_hidden_sizes", [8, 8, 8]))
        operands = [self.random(2, 5, 8), self.random(8, width), self.random(width)]
        return self.case("Attention", operands + ([] if mask is None else [np.int32(mask)]), num_heads=2, **attributes)

    def many_heads(self, bias, mask, scores, **attributes):
        random = self.random
        operands = [random(2, 3, 8), random(2, 5, 8), random(2, 5, 8), random(24) if bias else None,
                    np.int32([[1, 1, 1, 1, 0], [1, 0, 1, 0, 1]]) if mask else None, random(1, 2, 3, 5) if scores else None]
        return self.case("MultiHeadAttention", operands, given=3, num_heads=2, **attributes)

    def product_of_bytes(self, kind):
        random = self.layers.RNG
        weights, zeros = random.integers(-127, 128, (8, 6)).astype(np.int8), np.zeros(6, np.int8)
        scales, bias = (0.01 + 0.01 * random.random(6)).astype(np.float32), self.random(6)
        if kind == "DynamicQuantizeMatMul":
            return self.case(kind, [self.random(4, 8), weights, scales, zeros, bias])
        values = random.integers(-128, 128, (4, 8)).astype(np.int8)
        return self.case(kind, [values, weights, np.float32(0.02), scales, np.int8(3), zeros, bias])


def cases(layers):
    f = Fused(layers)
    random = f.random
    image = lambda: random(1, 3, 6, 6)  # noqa: E731
    rows = lambda: random(2, 3, 8)  # noqa: E731
    return {
        "fused_bias_gelu": lambda: f.case("BiasGelu", [random(3, 5), random(5)]),
        "fused_gelu": lambda: f.case("Gelu", [random(3, 5)]),
        "fused_fast_gelu": lambda: f.case("FastGelu", [random(3, 5), random(5)]),
        "fused_quick_gelu": lambda: f.case("QuickGelu", [random(3, 5)], alpha=1.3),
        "fused_conv": lambda: f.case("FusedConv", [image(), random(4, 3, 3, 3), random(4)], activation="LeakyRelu", activation_params=[0.2],
                                     pads=[1, 1, 1, 1], strides=[2, 2]),
        "fused_conv_sum": lambda: f.case("FusedConv", [image(), random(4, 3, 3, 3), random(4), random(1, 4, 4, 4)], activation="Relu"),
        "fused_conv_clip": lambda: f.case("FusedConv", [image(), random(3, 1, 3, 3)], activation="Clip", activation_params=[-1.0, 2.0], group=3),
        "fused_conv_hard_sigmoid": lambda: f.case("FusedConv", [image(), random(4, 3, 1, 1)], activation="HardSigmoid", activation_params=[0.2, 0.4]),
        "fused_gemm": lambda: f.case("FusedGemm", [random(3, 5), random(4, 5), random(4)], activation="LeakyRelu", activation_alpha=0.3, alpha=0.5,
                                     transB=1),
        "fused_matmul": lambda: f.case("FusedMatMul", [random(2, 5, 3), random(2, 4, 5)], alpha=0.25, transA=1, transB=1, given=2),
        "fused_skip_norm": lambda: f.case("SkipLayerNormalization", [rows(), rows(), random(8), random(8), random(8)], ["y", "", "", "sum"], given=2,
                                          epsilon=1e-5),
        "fused_skip_norm_alone": lambda: f.case("SkipLayerNormalization", [rows(), rows(), random(8)], given=2),
        "fused_skip_rms_norm": lambda: f.case("SkipSimplifiedLayerNormalization", [rows(), rows(), random(8), random(8)], given=2, epsilon=1e-6),
        "fused_rms_norm": lambda: layers.Case("SimplifiedLayerNormalization", [rows(), random(8)], ["y"], epsilon=1e-6, axis=-1),
        "fused_matmul_of_2_bits": lambda: f.matmul_n_bits(2, 32, zeros=False),
        "fused_matmul_of_4_bits": lambda: f.matmul_n_bits(4, 40, bias=True),
        "fused_matmul_of_8_bits": lambda: f.matmul_n_bits(8, 32),
        "fused_rows_of_4_bits": f.rows_of_few_bits,
        "fused_embedding": lambda: f.embedded(True, False),
        "fused_embedding_at_places": lambda: f.embedded(False, True),
        "fused_attention": f.projected,
        "fused_attention_masked": lambda: f.projected([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], unidirectional=1),
        "fused_attention_of_two_sizes": lambda: f.projected(scale=0.3, qkv_hidden_sizes=[8, 8, 4]),
        "fused_many_heads": lambda: f.many_heads(True, True, True),
        "fused_many_heads_plain": lambda: f.many_heads(False, False, False, scale=0.4),
        "fused_dynamic_product": lambda: f.product_of_bytes("DynamicQuantizeMatMul"),
        "fused_integer_product": lambda: f.product_of_bytes("MatMulIntegerToFloat"),
        "fused_rotation": lambda: f.case("RotaryEmbedding", [random(2, 3, 8), np.int64([[0, 1, 2], [3, 1, 4]]), random(5, 2), random(5, 2)],
                                         interleaved=1),
    }
