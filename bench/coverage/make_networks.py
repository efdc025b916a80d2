#!/usr/bin/env python3
"""Networks that anybody can make again: Keras applications and small networks written here, with random weights, converted by
TensorFlow's own converter to int8 .tflite files. Needs the package tensorflow.

    make_networks.py FOLDER [NAME ...]       # all without names; --list prints the names

Some are made with int16 activations, and as floats, too: NAME_s16 and NAME_f32. Each is made in a process of its own, since the
converter may end it.
"""
import argparse
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
NETWORKS = {}
FORMS = {"": "s8", "_s16": "s16", "_f32": "f32"}  # by the end of the name
IN_ALL_FORMS = ("MobileNetV2", "MobileNetV3Small", "u_net", "temporal_convolutions", "transformer", "gru_unrolled", "detection_head")


def network(function):
    NETWORKS[function.__name__] = function
    return function


def application(name, size, **options):
    """An architecture of keras.applications at the smallest image that it takes, so that it converts in seconds."""
    def make():
        from tensorflow import keras
        return getattr(keras.applications, name)(input_shape=(size, size, 3), weights=None, classes=10, **options)
    make.__name__ = name
    network(make)


application("MobileNet", 96, alpha=0.25)
application("MobileNetV2", 96, alpha=0.35)
application("MobileNetV3Small", 96, include_preprocessing=False)
application("EfficientNetB0", 96)
application("EfficientNetV2B0", 96, include_preprocessing=False)
application("NASNetMobile", 96)
application("DenseNet121", 64)
application("ResNet50", 64)
application("ResNet50V2", 64)
application("InceptionV3", 96)
application("Xception", 96)
application("ConvNeXtTiny", 32, include_preprocessing=False)


@network
def transformer():
    """Two encoder blocks on 32 tokens of 64 features: attention of 4 heads, layer normalisation, GELU."""
    from tensorflow import keras
    from tensorflow.keras import layers
    x = inputs = keras.Input((32, 64))
    for _ in range(2):
        y = layers.LayerNormalization(epsilon=1e-5)(x)
        x = x + layers.MultiHeadAttention(4, 16)(y, y)
        y = layers.LayerNormalization(epsilon=1e-5)(x)
        x = x + layers.Dense(64)(layers.Dense(128, activation="gelu")(y))
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


@network
def u_net():
    from tensorflow import keras
    from tensorflow.keras import layers

    def block(x, channels):
        for _ in range(2):
            x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(channels, 3, padding="same", use_bias=False)(x)))
        return x
    x = inputs = keras.Input((64, 64, 1))
    kept = []
    for channels in (8, 16, 32):
        x = block(x, channels)
        kept.append(x)
        x = layers.MaxPooling2D()(x)
    x = block(x, 64)
    for channels in (32, 16, 8):
        x = layers.Conv2DTranspose(channels, 2, strides=2)(x)
        x = block(layers.Concatenate()([x, kept.pop()]), channels)
    return keras.Model(inputs, layers.Conv2D(2, 1)(x))


@network
def temporal_convolutions():
    """Dilated causal convolutions over 64 steps."""
    from tensorflow import keras
    from tensorflow.keras import layers
    x = inputs = keras.Input((64, 16))
    for dilation in (1, 2, 4, 8):
        y = layers.Conv1D(24, 3, padding="causal", dilation_rate=dilation, activation="relu")(x)
        y = layers.Conv1D(24, 3, padding="causal", dilation_rate=dilation, activation="relu")(y)
        x = layers.Conv1D(24, 1)(x) + y if x.shape[-1] != 24 else x + y
    return keras.Model(inputs, layers.Dense(5)(layers.GlobalAveragePooling1D()(x)))


@network
def lstm_unrolled():
    """The converter ends with an error on the loop that Keras 3 makes of an LSTM, and has no fused operator for it."""
    from tensorflow import keras
    from tensorflow.keras import layers
    inputs = keras.Input((8, 12), batch_size=1)
    return keras.Model(inputs, layers.Dense(4)(layers.LSTM(16, unroll=True)(inputs)))


@network
def gru_unrolled():
    from tensorflow import keras
    from tensorflow.keras import layers
    inputs = keras.Input((8, 12), batch_size=1)
    return keras.Model(inputs, layers.Dense(4)(layers.GRU(16, unroll=True)(inputs)))


@network
def detection_head():
    """A small backbone and the heads of a one-stage detector at two scales."""
    from tensorflow import keras
    from tensorflow.keras import layers
    x = inputs = keras.Input((96, 96, 3))
    maps = []
    for channels in (8, 16, 32, 48, 64):
        x = layers.Conv2D(channels, 3, strides=2, padding="same", activation=keras.activations.silu)(x)
        x = layers.SeparableConv2D(channels, 3, padding="same", activation=keras.activations.silu)(x)
        maps.append(x)
    boxes = []
    for level in maps[-2:]:
        box = layers.Reshape((-1, 4))(layers.Conv2D(12, 1)(level))
        score = layers.Activation("sigmoid")(layers.Reshape((-1, 6))(layers.Conv2D(18, 1)(level)))
        boxes.append(layers.Concatenate(axis=-1)([box, score]))
    return keras.Model(inputs, layers.Concatenate(axis=1)(boxes))


def normalise(model, rng):
    """Lets batch normalisation see values. With its first statistics and random weights a deep network's activations shrink to
    nothing, or grow, from layer to layer: scales that interpreters end the process for."""
    from tensorflow.keras import layers
    several = [layer for layer in model.layers if isinstance(layer, layers.BatchNormalization)]
    for layer in several:
        layer.momentum = 0.0
    if several:
        model(rng.normal(size=(4, *model.input_shape[1:])).astype("float32"), training=True)


def convert(model, form="s8"):
    """As int8, as int16 activations with int8 weights, or as floats."""
    import numpy as np
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    shape = [1] + [n for n in model.input_shape[1:]]
    rng = np.random.default_rng(1)
    normalise(model, rng)
    # With fixed shapes, as firmware has them.
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(
        tf.TensorSpec(shape, tf.float32))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([convert_variables_to_constants_v2(function)])
    if form == "f32":
        return converter.convert()
    wide = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([rng.normal(size=shape).astype(np.float32)] for _ in range(4))
    converter.target_spec.supported_ops = [wide if form == "s16" else tf.lite.OpsSet.TFLITE_BUILTINS_INT8, tf.lite.OpsSet.TFLITE_BUILTINS]
    converter.inference_input_type = converter.inference_output_type = tf.int16 if form == "s16" else tf.int8
    return converter.convert()


def names():
    return [*NETWORKS, *(name + end for end in list(FORMS)[1:] for name in IN_ALL_FORMS)]


def make(name, folder):
    import tensorflow as tf
    end = next((end for end in FORMS if end and name.endswith(end)), "")
    tf.keras.utils.set_random_seed(1)
    content = convert(NETWORKS[name.removesuffix(end)](), FORMS[end])
    (folder / f"{name}.tflite").write_bytes(content)
    print(f"{name}: {len(content)} bytes", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of --list without one")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--one", metavar="NAME", help="in this process")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(names()))
        return 0
    if arguments.folder is None:
        parser.error("a folder for the networks, or --list")
    unknown = set(arguments.names) - set(names())
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; --list prints the names")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.one:
        make(arguments.one, arguments.folder)
        return 0
    failed = [name for name in arguments.names or names()
              if subprocess.run([sys.executable, __file__, arguments.folder, "--one", name], check=False).returncode != 0]
    for name in failed:
        print(f"{name}: the converter failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
