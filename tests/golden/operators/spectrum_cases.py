"""Fourier transforms of images, and TensorFlow's audio front end. make_litert_cases.py runs them."""
import numpy as np
from tflite_writer import Cases, Model, flexible, options

COMPLEX64 = 8
CASES = case = Cases()


def spectrum(shape, lengths, last, moves=False):
    """Transforms of images, and what makes reals of them; `moves`: through operators that change the shape."""
    model = Model()
    g = model.subgraph()
    half = [*shape[:-2], lengths[0], lengths[1] // 2 + 1]
    x, z, y = g.tensor(shape), g.tensor(half, COMPLEX64), g.tensor(half)
    g.op("RFFT2D", [x, g.constant(lengths)], [z], options("Rfft2dOptions"))
    if moves:
        flat, again = g.tensor([half[0], half[2]], COMPLEX64), g.tensor(half, COMPLEX64)
        g.op("SQUEEZE", [z], [flat], options("SqueezeOptions", squeezeDims=[1]))
        g.op("RESHAPE", [flat, g.constant(half)], [again], options("ReshapeOptions", newShape=half))
        z = again
    g.op(last, [z], [y])
    g.inputs(x)
    g.outputs(y)
    return model


@case
def rfft2d_magnitude():
    """Frames of 200 samples in transforms of 256."""
    return spectrum([3, 1, 200], [1, 256], "COMPLEX_ABS", moves=True)


@case
def rfft2d_real():
    return spectrum([2, 5, 12], [8, 8], "REAL")


@case
def rfft2d_imaginary():
    return spectrum([64, 16], [64, 16], "IMAG")


def front_end(window, stride, samples, channels, squared, coefficients=0, bands=20, lowest=20.0, highest=4000.0):
    model = Model()
    g = model.subgraph()
    frames, frequencies = 1 + (samples - window) // stride, 1 + (1 << (window - 1).bit_length()) // 2
    x, energies = g.tensor([samples, channels]), g.tensor([channels, frames, frequencies])
    g.op("AudioSpectrogram", [x], [energies], custom=flexible(window_size=window, stride=stride, magnitude_squared=squared))
    g.inputs(x)
    g.outputs(energies)
    if coefficients:
        y = g.tensor([channels, frames, coefficients])
        g.op("Mfcc", [energies, g.constant(np.int32(16000))], [y], custom=flexible(
            upper_frequency_limit=highest, lower_frequency_limit=lowest, filterbank_channel_count=bands,
            dct_coefficient_count=coefficients))
        g.outputs(y)
    return model


@case
def audio_spectrogram():
    """Two channels; frames that overlap, of a length that is no power of two."""
    return front_end(40, 16, 150, 2, False)


@case
def audio_spectrogram_squared():
    """Frames with samples between them that count for none."""
    return front_end(32, 50, 140, 1, True)


@case
def mfcc():
    """As the keyword spotters of TensorFlow's tutorial have it, and fewer samples."""
    return front_end(480, 320, 1440, 1, True, coefficients=13, bands=40)


@case
def mfcc_of_few_bands():
    return front_end(64, 32, 200, 1, True, coefficients=5, bands=6, lowest=300.0, highest=8000.0)
