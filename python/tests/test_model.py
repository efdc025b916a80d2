"""The reference evaluator: results, arrays of all sorts, state."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from conftest import LAST_THREE, REPOSITORY, training_package_or_skip

import intarsia

PAIR = b"""intarsia.graph pair
func @main(%0, %1) -> (%2) {
  %0 left: i32[2,3]
  %1 right: i32[2,3]
  %2 sum: i32[2,3]
  add both(%0, %1) -> (%2)
}
entry @main
"""


class SpeaksDLPack:
    """An array of another library: nothing but the protocol."""

    def __init__(self, array: np.ndarray, device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.device


def refusal(function, *arguments, **keywords) -> str:
    with pytest.raises(intarsia.Error) as caught:
        function(*arguments, **keywords)
    return str(caught.value)


def test_results_are_those_of_tflite_micro(digits, images, goldens):
    model = intarsia.Model(digits)
    for image, golden in zip(images[:40], goldens[:40]):
        (scores,) = model(image)
        assert scores.dtype == np.int8 and scores.shape == (1, 10)
        np.testing.assert_array_equal(scores, golden)


def test_a_model_describes_itself(digits):
    model = intarsia.Model(digits)
    (image,), (scores,) = model.inputs, model.outputs
    assert (image.shape, image.dtype, image.type) == ((1, 8, 8, 1), np.dtype("int8"), "i8")
    assert isinstance(image.scale, float) and isinstance(image.zero_point, int) and image.axis is None
    assert (scores.scale, scores.zero_point) == (1 / 256, -128)
    assert model.name == "digits" and model.notes == () and "digits(" in repr(model)


def test_real_numbers_are_quantised_on_request(digits, images, goldens):
    model = intarsia.Model(digits)
    (image,), (scores,) = model.inputs, model.outputs
    real = image.dequantise(images[0])
    assert real.dtype == np.float32
    for given in (real, real.astype(np.float64), real.astype(np.float16)):
        (result,) = model(given, quantise=True)
        np.testing.assert_array_equal(result, scores.dequantise(goldens[0]))
    assert result.dtype == np.float32


def test_quantising_rounds_halves_away_from_zero_and_stays_in_range():
    tensor = intarsia.Tensor("x", (5,), np.dtype("int8"), 0.5, 3, None, "i8")
    np.testing.assert_array_equal(tensor.quantise([0.25, -0.25, 0.2499999, 1000, -1000]), [4, 2, 3, 127, -128])
    np.testing.assert_array_equal(tensor.quantise([np.nan, np.inf, -np.inf, 0, 1]), [3, 127, -128, 3, 5])
    per_channel = intarsia.Tensor("w", (2, 2), np.dtype("int8"), (1.0, 0.5), (0, 1), 1, "i8")
    np.testing.assert_array_equal(per_channel.quantise([[1, 1], [-2, -2]]), [[1, 3], [-2, -3]])
    np.testing.assert_array_equal(per_channel.dequantise(np.array([[1, 3], [-2, -3]])), [[1, 1], [-2, -2]])
    four_bits = intarsia.Tensor("n", (2,), np.dtype("int8"), 1.0, 0, None, "i4")
    np.testing.assert_array_equal(four_bits.quantise([9, -9]), [7, -8])


def test_quantising_is_what_the_operator_does():
    model = intarsia.Model(b"""intarsia.graph edge
func @main(%0) -> (%1) {
  %0 x: f32[1,64]
  %1 y: i8[1,64] q(0.07:-5)
  quantize edge(%0) -> (%1)
}
entry @main
""")
    values = np.random.default_rng(1).uniform(-12, 12, (1, 64)).astype(np.float32)
    values[0, :8] = (np.arange(8) - 3.5) * np.float32(0.07)
    (expected,) = model(values)
    np.testing.assert_array_equal(model.outputs[0].quantise(values), expected)


def test_every_result_has_its_name(digits, images, goldens):
    model = intarsia.Model(digits)
    results = model.run_all(images[0])
    assert list(results) == list(model.results)
    np.testing.assert_array_equal(results[model.outputs[0].name], goldens[0])
    for name, tensor in model.results.items():
        assert results[name].shape == tensor.shape and results[name].dtype == tensor.dtype
    real = model.run_all(model.inputs[0].dequantise(images[0]), quantise=True)
    np.testing.assert_array_equal(real[model.outputs[0].name], model.outputs[0].dequantise(goldens[0]))


def test_strided_and_read_only_arrays_are_taken():
    model = intarsia.Model(PAIR)
    wide = np.arange(24, dtype=np.int32).reshape(4, 6)
    left, right = wide[::2, ::2], wide[1::2, 3:].copy()
    right.flags.writeable = False
    (result,) = model(left, right)
    np.testing.assert_array_equal(result, left + right)
    (result,) = model(np.asfortranarray(left), left.T.copy().T)
    np.testing.assert_array_equal(result, 2 * left)
    assert result.flags.writeable and result.flags.c_contiguous  # and it is nobody else's
    result[:] = 0
    np.testing.assert_array_equal(model(left, right)[0], left + right)


def test_arrays_of_other_libraries_are_taken():
    model = intarsia.Model(PAIR)
    left, right = np.arange(6, dtype=np.int32).reshape(2, 3), np.ones((2, 3), np.int32)
    np.testing.assert_array_equal(model(SpeaksDLPack(left), memoryview(right))[0], left + right)
    assert refusal(model, SpeaksDLPack(left, (2, 0)), right) == (
        "input 0 'left': lies in the memory of another device; copy it to the CPU first: x.cpu() in PyTorch")
    assert refusal(model, left, [[1, 2], [3]]).startswith("input 1 'right': cannot be read as an array (ValueError: ")


def test_tensors_of_pytorch_are_taken():
    training_package_or_skip("torch")
    import torch

    model = intarsia.Model(PAIR)
    left = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    np.testing.assert_array_equal(model(left, left)[0], 2 * left.numpy())
    single = intarsia.Model(LAST_THREE)
    assert "x.detach().numpy()" in refusal(single, torch.ones(1, 1, requires_grad=True))


def test_a_wrong_array_is_named(digits, images):
    model, pair = intarsia.Model(digits), intarsia.Model(PAIR)
    name = model.inputs[0].name
    assert refusal(model) == f"digits: takes 1 input ('{name}'), got 0; give one array for each"
    assert refusal(model, images[0].reshape(8, 8)) == (
        f"input 0 '{name}': has shape (8, 8), the model takes (1, 8, 8, 1); x.reshape((1, 8, 8, 1))")
    assert refusal(model, np.zeros((2, 8, 8, 1), np.int8)) == (
        f"input 0 '{name}': has shape (2, 8, 8, 1), the model takes (1, 8, 8, 1); give an array of shape (1, 8, 8, 1)")
    assert refusal(model, images[0].astype(np.float32)) == (
        f"input 0 '{name}': has elements of type float32, the model takes int8; "
        "pass quantise=True for real numbers, which are then quantised as the model says")
    assert refusal(pair, np.zeros((2, 3), np.int32), np.zeros((2, 3), ">i4")) == (
        "input 1 'right': has elements of type >i4, the model takes int32; x.astype('int32'), where that keeps the values")
    assert "has elements of type <U1; give real numbers" in refusal(model, np.full((1, 8, 8, 1), "x"), quantise=True)


def test_state_goes_on_until_it_is_reset():
    model = intarsia.Model(LAST_THREE)

    def step(value: float) -> float:
        return model(np.full((1, 1), value, np.float32))[0].item()

    assert [step(value) for value in (1, 2, 3, 4)] == [1, 3, 6, 9]
    other = intarsia.Model(LAST_THREE)
    assert other(np.full((1, 1), 5, np.float32))[0].item() == 5
    model.reset()
    assert step(7) == 7


def test_threads_share_a_model(digits, images, goldens):
    model = intarsia.Model(digits)
    wrong: list[int] = []

    def work(first: int) -> None:
        for index in range(first, 40, 4):
            if not np.array_equal(model(images[index])[0], goldens[index]):
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_results_outlive_the_model(digits, images, goldens):
    (scores,) = intarsia.Model(digits)(images[0])
    everything = intarsia.Model(digits).run_all(images[1])
    np.testing.assert_array_equal(scores, goldens[0])
    np.testing.assert_array_equal(list(everything.values())[-1], goldens[1])


def test_an_input_becomes_a_constant():
    sums = REPOSITORY / "tests/golden/operators/add_i32/model.tflite"
    whole = intarsia.Model(sums)
    name = whole.inputs[1].name
    left = np.arange(np.prod(whole.inputs[0].shape), dtype=np.int32).reshape(whole.inputs[0].shape)
    right = np.full(whole.inputs[1].shape, 7, np.int32)
    for values in (7, [7] * right.size, right.reshape(-1)):
        part = intarsia.Model(sums, input_values={name: values})
        assert [tensor.name for tensor in part.inputs] == [whole.inputs[0].name]
        assert np.array_equal(part(left)[0], whole(left, right)[0])
    assert "which input_values's 0.5 is not" in refusal(intarsia.Model, sums, input_values={name: 0.5})
    assert "has no input 'gain' to give a value to" in refusal(intarsia.Model, sums, input_values={"gain": 1})
    assert "are no numbers" in refusal(intarsia.Model, sums, input_values={name: "many"})
    assert "is a int; write a dictionary" in refusal(intarsia.Model, sums, input_values=3)
