#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digits example: an int8 classifier of 8x8 images of handwritten digits.

  train.py           trains, quantises, writes the model, the test images and the golden outputs
  train.py --check   evaluates the files that are there and compares with the golden outputs
  train.py --cross-validate   accuracy of this recipe on five folds of the training part

The test images take no part in training, in calibration, or in the choice of the recipe.
README.md beside this file describes the files. Needs the packages of requirements.txt.
"""

import argparse
import contextlib
import io
import os
import sys
from pathlib import Path

# Before TensorFlow is imported: oneDNN picks its kernels, and so its rounding, by processor.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np

SEED = 7
EPOCHS = 80
BATCH = 32
LEARNING_RATE = 4e-3
MAX_PIXEL = 16.0
TEST_FRACTION = 0.2
REQUIRED_ACCURACY = 0.97

# What the converter must make of the network, in order. The names become the names of the tensors.
OPERATORS = [
    ("stem", "CONV_2D"),
    ("block1_depthwise", "DEPTHWISE_CONV_2D"),
    ("block1_pointwise", "CONV_2D"),
    ("block1_add", "ADD"),
    ("max_pool", "MAX_POOL_2D"),
    ("widen", "CONV_2D"),
    ("block2_depthwise", "DEPTHWISE_CONV_2D"),
    ("block2_pointwise", "CONV_2D"),
    ("block2_add", "ADD"),
    ("average_pool", "AVERAGE_POOL_2D"),
    ("flatten", "RESHAPE"),
    ("classifier", "FULLY_CONNECTED"),
    ("scores", "SOFTMAX"),
]


# --- data -----------------------------------------------------------------------------------------


def load_split():
    """(train images, train labels), (test images, test labels); images are N x 8 x 8, 0..1."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = (digits.images / MAX_PIXEL).astype(np.float32)
    labels = digits.target.astype(np.uint8)
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels, test_size=TEST_FRACTION, stratify=labels, random_state=SEED
    )
    return (train_x, train_y), (test_x, test_y)


def distort(images, rng):
    """The same digits as if written a little differently: rotated, scaled, slanted, shifted."""
    from scipy.ndimage import affine_transform

    centre = (np.array(images.shape[1:]) - 1) / 2
    result = np.empty_like(images)
    for i, image in enumerate(images):
        angle = rng.uniform(-0.2, 0.2)
        slant = rng.uniform(-0.15, 0.15)
        scale = rng.uniform(0.9, 1.1, size=2)
        shift = rng.uniform(-0.7, 0.7, size=2)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        matrix = turn @ np.array([[1, 0], [slant, 1]]) @ np.diag(scale)
        offset = centre - matrix @ (centre + shift)
        result[i] = affine_transform(image, matrix, offset=offset, order=1)
    return result


# --- network --------------------------------------------------------------------------------------


def build_network():
    """Two residual blocks of depthwise and pointwise convolutions, 8x8x16 and 4x4x32."""
    import keras
    from keras import layers

    def convolution(layer, x, relu):
        x = layers.BatchNormalization(name=layer.name + "_norm")(layer(x))
        return layers.ReLU(name=layer.name + "_relu")(x) if relu else x

    def residual(name, x):
        channels = x.shape[-1]
        depthwise = layers.DepthwiseConv2D(
            3, padding="same", use_bias=False, name=name + "_depthwise"
        )
        pointwise = layers.Conv2D(channels, 1, use_bias=False, name=name + "_pointwise")
        y = convolution(pointwise, convolution(depthwise, x, relu=True), relu=False)
        return layers.ReLU(name=name + "_relu")(layers.Add(name=name + "_add")([x, y]))

    def full(name, channels, x):
        layer = layers.Conv2D(channels, 3, padding="same", use_bias=False, name=name)
        return convolution(layer, x, relu=True)

    image = keras.Input((8, 8, 1), name="image")
    x = full("stem", 16, image)
    x = residual("block1", x)
    x = layers.MaxPooling2D(2, name="max_pool")(x)
    x = full("widen", 32, x)
    x = residual("block2", x)
    x = layers.AveragePooling2D(2, name="average_pool")(x)
    x = layers.Flatten(name="flatten")(x)
    x = layers.Dropout(0.3, seed=SEED, name="dropout")(x)
    x = layers.Dense(10, name="classifier")(x)
    return keras.Model(image, layers.Softmax(name="scores")(x), name="digits")


def make_deterministic():
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    # One thread: the order of a sum must not depend on how many cores this machine has.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def train(images, labels):
    import keras

    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    network = build_network()
    steps = EPOCHS * -(-len(images) // BATCH)
    network.compile(
        optimizer=keras.optimizers.AdamW(
            keras.optimizers.schedules.CosineDecay(LEARNING_RATE, steps), weight_decay=1e-3
        ),
        loss=keras.losses.CategoricalCrossentropy(label_smoothing=0.05),
    )
    one_hot = np.eye(10, dtype=np.float32)[labels]
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        x = distort(images[order], rng)[..., np.newaxis]
        history = network.fit(x, one_hot[order], batch_size=BATCH, shuffle=False, verbose=0)
        if sys.stderr.isatty():
            loss = history.history["loss"][0]
            print(f"\repoch {epoch + 1}/{EPOCHS}  loss {loss:.3f} ", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return network


# --- quantisation and the .tflite file ------------------------------------------------------------


def quantise(network, calibration_images):
    """Post-training quantisation, everything int8, convolution weights per output channel."""
    import keras
    import tensorflow as tf

    # A fixed batch of one: with a free batch, flatten becomes shape arithmetic at run time.
    image = keras.Input(batch_shape=(1, 8, 8, 1), name="image")
    converter = tf.lite.TFLiteConverter.from_keras_model(keras.Model(image, network(image)))
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    # Scales per channel came late to fully connected layers; many runtimes do not read them.
    converter._experimental_disable_per_channel_quantization_for_dense_layers = True
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    converter.representative_dataset = lambda: (
        [image[np.newaxis, ..., np.newaxis]] for image in calibration_images
    )
    with contextlib.redirect_stdout(io.StringIO()):  # Keras lists every variable
        return converter.convert()


def rename(model_bytes):
    """Checks the operators and gives the tensors readable names: one per operator."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    class AlignedBuilder(flatbuffers.Builder):
        """Python's builder knows no force_align; the format asks for it on weights and biases."""

        def StartVector(self, elem_size, num_elems, alignment):
            return super().StartVector(elem_size, num_elems, 16 if elem_size == 1 else alignment)

    operator_names = {
        value: name for name, value in vars(schema.BuiltinOperator).items() if name.isupper()
    }
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model_bytes, 0))
    (graph,) = model.subgraphs
    codes = [model.operatorCodes[op.opcodeIndex].builtinCode for op in graph.operators]
    found = [operator_names[code] for code in codes]
    wanted = [operator for _, operator in OPERATORS]
    if found != wanted:
        raise SystemExit(f"the converter made {found}, wanted {wanted}")

    graph.name = "digits"
    graph.tensors[graph.inputs[0]].name = "image"
    for op, (name, _) in zip(graph.operators, OPERATORS):
        graph.tensors[op.outputs[0]].name = name
        for index, role in zip(op.inputs[1:], ("weights", "bias")):
            tensor = graph.tensors[index]
            if index >= 0 and model.buffers[tensor.buffer].data is not None:
                tensor.name = f"{name}_{role}" if name != "flatten" else "flatten_shape"
    (signature,) = model.signatureDefs
    signature.inputs[0].name = "image"
    signature.outputs[0].name = "scores"
    model.description = "int8 classifier of 8x8 handwritten digits"
    builder = AlignedBuilder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def quantise_images(images, model_bytes):
    """The images as the model's input wants them: N x 64 int8."""
    from ai_edge_litert.interpreter import Interpreter

    detail = Interpreter(model_content=model_bytes).get_input_details()[0]
    scale, zero_point = detail["quantization"]
    values = np.round(images / scale) + zero_point
    return np.clip(values, -128, 127).astype(np.int8).reshape(len(images), -1)


# --- evaluation -----------------------------------------------------------------------------------


def run_litert(model_bytes, images, reference):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
    interpreter = Interpreter(
        model_content=model_bytes, num_threads=1, experimental_op_resolver_type=resolver
    )
    interpreter.allocate_tensors()
    source = interpreter.get_input_details()[0]["index"]
    sink = interpreter.get_output_details()[0]["index"]
    outputs = []
    for image in images:
        interpreter.set_tensor(source, image.reshape(1, 8, 8, 1))
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(sink)[0].copy())
    return np.array(outputs, dtype=np.int8)


def run_tflm(model_bytes, images):
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(model_bytes)
    outputs = []
    for image in images:
        interpreter.set_input(image.reshape(1, 8, 8, 1), 0)
        interpreter.invoke()
        outputs.append(interpreter.get_output(0)[0].copy())
    return np.array(outputs, dtype=np.int8)


def accuracy(outputs, labels):
    # argmax takes the first of equal scores, as the firmware does.
    return float(np.mean(np.argmax(outputs, axis=1) == labels))


def check(folder):
    """True if the files fit together and the model is as good and as exact as README.md says."""
    model_bytes = (folder / "digits.tflite").read_bytes()
    labels = np.fromfile(folder / "test_labels.bin", np.uint8)
    images = np.fromfile(folder / "test_images.bin", np.int8).reshape(len(labels), 64)
    golden = np.fromfile(folder / "golden_outputs.bin", np.int8).reshape(len(labels), 10)

    _, (test_images, test_labels) = load_split()
    same_data = np.array_equal(labels, test_labels) and np.array_equal(
        images, quantise_images(test_images, model_bytes)
    )
    tflm = run_tflm(model_bytes, images)
    reference = run_litert(model_bytes, images, reference=True)
    optimised = run_litert(model_bytes, images, reference=False)
    score = accuracy(golden, labels)

    print(f"model                  {len(model_bytes)} bytes, {len(labels)} test images")
    print(f"test images            {'are' if same_data else 'are NOT'} the held-out split")
    for name, outputs in (
        ("TFLite Micro", tflm),
        ("LiteRT, reference", reference),
        ("LiteRT, optimised", optimised),
    ):
        difference = np.abs(outputs.astype(int) - golden.astype(int)).max(axis=1)
        off = int(np.count_nonzero(difference))
        verdict = (
            f"{off} images differ from golden, by {difference.max()} at most"
            if off
            else "equal to the golden outputs"
        )
        print(f"{name:<22} {verdict}, accuracy {accuracy(outputs, labels):.2%}")
    exact = np.array_equal(tflm, golden)
    # LiteRT's reference kernel rounds the fully connected layer once where TFLite Micro's rounds
    # twice (README.md), so it is held to one unit. The optimised kernels are for information.
    near = np.abs(reference.astype(int) - golden.astype(int)).max() <= 1
    return bool(same_data and exact and near and score >= REQUIRED_ACCURACY)


# --- commands -------------------------------------------------------------------------------------


def write_all(folder):
    make_deterministic()
    (train_x, train_y), (test_x, test_y) = load_split()
    network = train(train_x, train_y)
    model_bytes = rename(quantise(network, train_x))
    images = quantise_images(test_x, model_bytes)
    float_score = accuracy(network.predict(test_x[..., np.newaxis], verbose=0), test_y)
    print(f"accuracy before quantisation {float_score:.2%}")

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "digits.tflite").write_bytes(model_bytes)
    images.tofile(folder / "test_images.bin")
    test_y.tofile(folder / "test_labels.bin")
    run_tflm(model_bytes, images).tofile(folder / "golden_outputs.bin")


def cross_validate():
    from sklearn.model_selection import StratifiedKFold

    make_deterministic()
    (images, labels), _ = load_split()
    scores = []
    for fit, held in StratifiedKFold(5, shuffle=True, random_state=SEED).split(images, labels):
        model_bytes = rename(quantise(train(images[fit], labels[fit]), images[fit]))
        outputs = run_tflm(model_bytes, quantise_images(images[held], model_bytes))
        scores.append(accuracy(outputs, labels[held]))
        print(f"fold {len(scores)}: {scores[-1]:.2%}", flush=True)
    print(f"mean {np.mean(scores):.2%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="evaluate the files that are there")
    parser.add_argument(
        "--cross-validate", action="store_true", help="judge the recipe, write nothing"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(__file__).resolve().parent,
        help="where the files are (default: beside this script)",
    )
    arguments = parser.parse_args()
    if arguments.cross_validate:
        cross_validate()
        return 0
    if not arguments.check:
        write_all(arguments.folder)
    return 0 if check(arguments.folder) else 1


if __name__ == "__main__":
    sys.exit(main())
