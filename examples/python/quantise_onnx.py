"""Float ONNX becomes quantised ONNX (QDQ), by onnxruntime."""
import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class Calibration(CalibrationDataReader):
    def __init__(self, name, samples):
        self.name, self.samples = name, iter(samples)

    def get_next(self):
        sample = next(self.samples, None)
        return None if sample is None else {self.name: sample[np.newaxis]}


def quantise(folder, samples):
    """float.onnx of a folder as a model of int8 throughout, with scales from what the samples bring about."""
    name = onnx.load(folder / "float.onnx").graph.input[0].name
    quant_pre_process(folder / "float.onnx", folder / "prepared.onnx", skip_symbolic_shape=True)  # all shapes are known
    quantize_static(folder / "prepared.onnx", folder / "quantised.onnx", Calibration(name, samples), quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QInt8, weight_type=QuantType.QInt8, extra_options={"ActivationSymmetric": False})
    return onnx.load(folder / "quantised.onnx")
