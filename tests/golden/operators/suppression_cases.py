"""Non-maximum suppression. make_litert_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, rng_of

CASES = case = Cases()


def suppression(version, boxes, scores, most, overlap, least=-np.inf, sigma=0.0, given=False):
    """`given`: the limits of overlaps and scores are inputs of the model."""
    model = Model()
    g = model.subgraph()
    x, s = g.tensor(np.shape(boxes)), g.tensor(np.shape(scores))
    limits = [g.tensor([]) for _ in range(2)] if given else [g.constant(v, np.float32) for v in (overlap, least)]
    soft = [g.constant(sigma, np.float32)] if version == 5 else []
    made = [g.tensor([most], np.int32)] + [g.tensor([most])] * (version == 5) + [g.tensor([], np.int32)]
    g.op(f"NON_MAX_SUPPRESSION_V{version}", [x, s, g.constant(most), *limits, *soft], made)
    g.inputs(x, s, *(limits if given else []))
    g.outputs(*made)
    model.values = [np.float32(boxes), np.float32(scores)] + [np.float32(v) for v in ([overlap, least] if given else [])]
    return model


def random_boxes(name, count):
    """Crowded, with corners in any order, some without an area."""
    rng = rng_of(name)
    corner = rng.uniform(0, 3, (count, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(-1.5, 1.5, (count, 2))], axis=1)
    boxes[::7, 2:] = boxes[::7, :2]
    return boxes, rng.permutation(count) / count


@case
def suppression_v4():
    return suppression(4, *random_boxes("suppression_v4", 40), 12, 0.4, 0.1)


@case
def suppression_v4_few_left():
    return suppression(4, *random_boxes("suppression_v4_few_left", 9), 12, 0.2, 0.5)


@case
def suppression_v4_limits_given():
    return suppression(4, *random_boxes("suppression_v4_limits_given", 25), 5, 0.3, 0.2, given=True)


@case
def suppression_v4_at_the_limit():
    """Overlaps of exactly a half, and a score at its limit."""
    return suppression(4, [[0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 1, 4], [5, 5, 6, 6]], [0.9, 0.8, 0.7, 0.25], 4, 0.5, 0.25)


@case
def suppression_v4_any_score():
    """No limit of scores, as TensorFlow's functions have it, and fewer boxes than are wanted."""
    return suppression(4, [[0, 0, 1, 1], [0, 0, 1, 1.2], [3, 3, 4, 4]], [-0.5, 0.8, 0.7], 3, 0.5)


@case
def suppression_v5():
    return suppression(5, *random_boxes("suppression_v5", 40), 10, 0.5, 0.05)


@case
def suppression_v5_soft():
    return suppression(5, *random_boxes("suppression_v5_soft", 30), 20, 0.7, 0.2, 0.4)
