"""Operators of classical machine learning (ai.onnx.ml), as scikit-learn, LightGBM and XGBoost are exported."""
import numpy as np

DOMAIN = "ai.onnx.ml"
FEATURES = 5


def cases(layers):
    def numbers():
        return layers.RNG

    def case(kind, x, outputs, **attributes):
        return layers.Case(kind, [x], outputs, domain=DOMAIN, **attributes)

    def features(rows=6, absent=False):
        x = layers.random(rows, FEATURES)
        if absent:
            x[numbers().random(x.shape) < 0.3] = np.nan
        return x

    def trees(count, depth, modes, absent=False, values=None):
        """Attributes nodes_* of random trees, and the (tree, node) of their leaves."""
        made = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                                      "missing_value_tracks_true")}
        leaves = []
        for tree in range(count):
            waiting, next_id = [(0, 0)], 1
            while waiting:
                node, level = waiting.pop()
                is_leaf = level == depth or (level > 0 and numbers().random() < 0.2)
                mode = "LEAF" if is_leaf else str(numbers().choice(modes))
                threshold = 0.0 if is_leaf else float(numbers().choice(values) if values else np.float32(numbers().normal() / 2))
                row = (tree, node, int(numbers().integers(FEATURES)), threshold, mode, 0 if is_leaf else next_id + 1,
                       0 if is_leaf else next_id, int(absent and numbers().random() < 0.5))
                for name, value in zip(made, row):
                    made[name].append(value)
                if is_leaf:
                    leaves.append((tree, node))
                else:
                    waiting += [(next_id, level + 1), (next_id + 1, level + 1)]
                    next_id += 2
        order = numbers().permutation(len(made["nodeids"])) if len(modes) > 1 else range(len(made["nodeids"]))
        # A root is the first of its tree, everything else in any order.
        order = sorted(order, key=lambda i: (made["treeids"][i], made["nodeids"][i] != 0))
        return {f"nodes_{name}": [made[name][i] for i in order] for name in made}, leaves

    def weighed(prefix, leaves, targets, sign=True):
        entries = [(tree, node, target) for tree, node in leaves for target in targets(tree)]
        weights = [float(np.float32(numbers().normal() if sign else numbers().random() / 4)) for _ in entries]
        return {f"{prefix}_treeids": [e[0] for e in entries], f"{prefix}_nodeids": [e[1] for e in entries],
                f"{prefix}_ids": [e[2] for e in entries], f"{prefix}_weights": weights}

    def regressor(x, targets=1, count=4, depth=4, modes=("BRANCH_LEQ",), absent=False, values=None, **more):
        nodes, leaves = trees(count, depth, modes, absent, values)
        return case("TreeEnsembleRegressor", x, ["y"], n_targets=targets, **nodes,
                    **weighed("target", leaves, lambda tree: range(targets)), **more)

    def classifier(targets, labels, count=6, sign=True, mode="BRANCH_LEQ", **more):
        nodes, leaves = trees(count, 3, (mode,))
        return case("TreeEnsembleClassifier", features(), ["i", "y"], **nodes, classlabels_int64s=labels,
                    **weighed("class", leaves, targets, sign), **more)

    def linear(labels, results, **more):
        values = layers.random(results, FEATURES + 1)
        return case("LinearClassifier", features(), ["i", "y"], coefficients=values[:, 1:].ravel().tolist(),
                    intercepts=values[:, 0].tolist(), classlabels_ints=labels, **more)

    def vectors(kernel, classes, per_class=4):
        count = classes * per_class if classes else per_class
        return {"support_vectors": (layers.random(count, FEATURES) + 3).ravel().tolist(), "kernel_type": kernel,
                "kernel_params": [0.2, 0.3, 3.0],
                "coefficients": layers.random(max(classes - 1, 1) * count).tolist(),
                "rho": layers.random(classes * (classes - 1) // 2 if classes else 1).tolist()}

    def machine(kernel, classes, **more):
        return case("SVMClassifier", features() + np.float32(3), ["i", "y"], vectors_per_class=[4] * classes,
                    classlabels_ints=[7 * i - 3 for i in range(classes)], **vectors(kernel, classes), **more)

    def distance(kernel, **more):
        return case("SVMRegressor", features() + np.float32(3), ["y"], n_supports=4, **vectors(kernel, 0), **more)

    steps = np.float32([-0.5, 0, 0.5, 1])
    return {
        "trees": lambda: regressor(features()),
        "trees_of_one_row": lambda: regressor(layers.random(1, FEATURES), targets=3, base_values=[0.5, -1.0, 2.0]),
        "trees_of_every_mode": lambda: regressor(
            layers.RNG.choice(steps, (12, FEATURES)).astype(np.float32), values=[float(s) for s in steps],
            modes=tuple(f"BRANCH_{m}" for m in ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ"))),
        "trees_absent_values": lambda: regressor(features(12, True), absent=True,
                                                 modes=tuple(f"BRANCH_{m}" for m in ("LEQ", "LT", "GTE", "GT"))),
        "trees_average": lambda: regressor(features(), aggregate_function="AVERAGE"),
        "trees_largest": lambda: regressor(features(), aggregate_function="MAX"),
        "trees_of_leaves": lambda: regressor(features(), depth=0),
        "forest": lambda: classifier(lambda tree: range(3), [4, 1, 9], sign=False),
        "forest_of_two": lambda: classifier(lambda tree: [0], [0, 1], sign=False),
        "boosted": lambda: classifier(lambda tree: [tree % 3], [0, 1, 2], post_transform="SOFTMAX", base_values=[0.3, 0.0, -0.2]),
        "boosted_unevenly": lambda: classifier(lambda tree: [tree // 3], [0, 1, 2], count=7),
        "boosted_of_two": lambda: classifier(lambda tree: [0], [3, 5], mode="BRANCH_LT", post_transform="LOGISTIC", base_values=[0.2]),
        "forest_of_the_second": lambda: classifier(lambda tree: [1], [3, 5], sign=False),
        # onnxruntime gives 0 and 1, whatever the labels are.
        "forest_scores_of_two": lambda: classifier(lambda tree: range(2), [0, 1]),
        "linear_classes": lambda: linear([0, 1, 2], 3, post_transform="SOFTMAX", multi_class=1),
        "linear_two": lambda: linear([5, 2], 1, post_transform="LOGISTIC"),
        "linear_two_scores": lambda: linear([0, 1], 1),
        "linear_regressor": lambda: case("LinearRegressor", features(), ["y"], targets=2,
                                         coefficients=layers.random(2 * FEATURES).tolist(), intercepts=[0.5, -1.0]),
        "svm_radial": lambda: machine("RBF", 3),
        "svm_of_two": lambda: machine("RBF", 2),
        "svm_polynomial": lambda: machine("POLY", 4),
        "svm_chances": lambda: machine("RBF", 4, prob_a=(-1 - np.abs(layers.random(6))).tolist(), prob_b=layers.random(6).tolist()),
        "svm_chances_of_two": lambda: machine("LINEAR", 2, prob_a=[-1.5], prob_b=[0.3]),
        "svm_regressor": lambda: distance("SIGMOID"),
        "svm_one_class": lambda: distance("LINEAR", one_class=1),
        "scaler": lambda: case("Scaler", features(), ["y"], offset=layers.random(FEATURES).tolist(),
                               scale=layers.random(FEATURES).tolist()),
        "normalizer_l1": lambda: case("Normalizer", np.vstack([features(), np.zeros((1, FEATURES), np.float32)]), ["y"], norm="L1"),
        "normalizer_l2": lambda: case("Normalizer", features(), ["y"], norm="L2"),
        "normalizer_max": lambda: case("Normalizer", features(), ["y"], norm="MAX"),
        "binarizer": lambda: case("Binarizer", features(), ["y"], threshold=0.25),
        "imputer": lambda: case("Imputer", features(absent=True), ["y"], imputed_value_floats=layers.random(FEATURES).tolist(),
                                replaced_value_float=float("nan")),
        "label_encoder": lambda: case("LabelEncoder", layers.RNG.integers(0, 6, (4, 3)), ["y"], keys_int64s=[1, 2, 4],
                                      values_floats=[0.5, -2.0, 9.0], default_float=7.0),
        "one_hot_encoder": lambda: case("OneHotEncoder", layers.RNG.integers(0, 5, (4, 2)), ["y"], cats_int64s=[3, 0, 1]),
        "array_feature_extractor": lambda: layers.Case("ArrayFeatureExtractor", [features(), np.int64([3, 0, 3])], ["y"],
                                                       domain=DOMAIN),
    }
