"""Operators that are newer than onnxruntime, or that it computes otherwise: by the reference of the onnx package."""
import numpy as np


def cases(layers):
    random = layers.random

    def case(*arguments, **more):
        made = layers.Case(*arguments, **more)
        made.by_reference = True
        return made

    def attention(*operands, outputs=("y",), **attributes):
        return case("Attention", [*operands], [*outputs], opset=24, given=len(operands), **attributes)

    def linear(rule, decay=None, beta=None, state=True, heads=2, query_heads=4, steps=3, **attributes):
        return case("LinearAttention",
                    [random(1, steps, query_heads * 3), random(1, steps, heads * 3), random(1, steps, heads * 5),
                     random(1, heads, 3, 5) if state else None,
                     None if decay is None else -np.abs(random(1, steps, decay)), None if beta is None else random(1, steps, beta)],
                    ["y", "state"], opset=27, given=6, q_num_heads=query_heads, kv_num_heads=heads, update_rule=rule, **attributes)

    def scatter(mode, places, axis=-2, shape=(2, 3, 8, 4), steps=3):
        new = list(shape)
        new[axis] = steps
        return case("TensorScatter", [random(*shape), random(*new), places], ["y"], opset=24, given=3, mode=mode, axis=axis)

    def cached():
        return random(2, 2, 6, 4), random(2, 2, 6, 5)

    def keys():
        return random(1, 2, 5, 4), random(1, 2, 5, 4)

    mask = np.array([[1, 0, 1, 0, 1], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1]], bool)
    bias = np.where(mask, 0.5, -np.inf).astype(np.float32)
    return {
        "swiglu": lambda: case("SwiGLU", [random(3, 4), random(3, 4)], ["y"], opset=28, given=2, alpha=1.3),
        "cumprod": lambda: case("CumProd", [random(2, 5, 3), np.int64(1)], ["y"], opset=26),
        "cumprod_from_the_end": lambda: case("CumProd", [random(7), np.int64(0)], ["y"], opset=26, exclusive=1, reverse=1),
        "causal_conv": lambda: causal(case, random, 6, "none", True),
        "causal_conv_silu": lambda: causal(case, random, 1, "silu", True),
        "causal_conv_from_nothing": lambda: causal(case, random, 5, "swish", False),
        "linear_attention": lambda: linear("linear", state=False),
        "linear_attention_gated": lambda: linear("gated", decay=6),
        "linear_attention_delta": lambda: linear("delta", beta=1, query_heads=2, scale=0.7),
        "linear_attention_gated_delta": lambda: linear("gated_delta", decay=2, beta=2, steps=1),
        "tensor_scatter": lambda: scatter("linear", np.int64([4, 0])),
        "tensor_scatter_around": lambda: scatter("circular", np.int64([6, 7]), axis=1, shape=(2, 8, 3)),
        "attention_cached": lambda: attention(random(2, 4, 2, 4), *cached(), None, None, None, np.int64([5, 2]), is_causal=1),
        "attention_cached_window": lambda: attention(random(2, 2, 3, 4), *cached(), np.abs(random(3, 4)), None, None,
                                                     np.int64([4, 3])),
        "attention_blind_row": lambda: attention(random(1, 2, 3, 4), *keys(), mask),
        "attention_blind_row_by_bias": lambda: attention(random(1, 2, 3, 4), *keys(), bias),
        "attention_scores": lambda: attention(random(1, 2, 3, 4), *keys(), outputs=("y", "", "", "scores"), softcap=1.5,
                                              qk_matmul_output_mode=1),
        "attention_weights": lambda: attention(random(1, 2, 3, 4), *keys(), mask, outputs=("y", "", "", "scores"),
                                               qk_matmul_output_mode=3),
    }


def causal(case, random, length, activation, has_state):
    """The weights are part of the model, what comes in and the state are not."""
    made = case("CausalConvWithState", [random(1, 4, length), None, None, random(1, 4, 2) if has_state else None], ["y", "state"],
                opset=27, given=4, activation=activation)
    made.constants = [("w", random(4, 1, 3)), ("b", random(4))]
    made.nodes[0].input[1], made.nodes[0].input[2] = "w", "b"
    return made
