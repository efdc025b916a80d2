"""Inputs and outputs of each type that the graph has: what arrays they are, and that values come through unchanged."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import package_or_skip

import intarsia

RUNNERS = [intarsia.Model, intarsia.Simulator]
PLAIN = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "f32": "float32"}


def one_operator(operator: str, given: str, made: str, attributes: str = "") -> bytes:
    return f"""intarsia.graph types
func @main(%0) -> (%1) {{
  %0 x: {given}
  %1 y: {made}
  {operator} only(%0) -> (%1) {attributes}
}}
entry @main
""".encode()


def extremes(dtype: str) -> np.ndarray:
    """A value of each kind, the smallest and the largest among them; [1, 8]."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([[False, True] * 4])
    if kind.kind == "f":
        return np.array([[0, -0.0, 1.5, -1.5, np.finfo(kind).max, np.finfo(kind).tiny, np.inf, -np.inf]], kind)
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    return np.array([[low, low + 1, high, high - 1, 0, 1, 2, high // 2]], kind)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("type", PLAIN)
def test_values_come_through(type, runner):
    model = runner(one_operator("reshape", f"{type}[1,8]", f"{type}[2,4]", "{shape=[2,4]}"))
    assert (model.inputs[0].type, model.inputs[0].dtype) == (type, np.dtype(PLAIN[type]))
    values = extremes(PLAIN[type])
    (result,) = model(values)
    assert result.dtype == values.dtype
    assert result.tobytes() == values.tobytes() and result.shape == (2, 4)
    wrong = np.zeros((1, 8), np.complex64)
    with pytest.raises(intarsia.Error, match=f"has elements of type complex64, the model takes {PLAIN[type]}"):
        model(wrong)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("type", ["i8", "u8", "i16"])
def test_real_numbers_become_elements_on_request(type, runner):
    """Of each quantised type: floats in, the nearest elements inside, floats out."""
    zero_point = {"i8": -3, "u8": 120, "i16": 0}[type]
    model = runner(one_operator("dequantize", f"{type}[1,8] q(0.25:{zero_point})", "f32[1,8]"))
    elements = extremes(PLAIN[type])
    real = (elements.astype(np.float32) - zero_point) * np.float32(0.25)
    np.testing.assert_array_equal(model(elements)[0], real)
    np.testing.assert_array_equal(model(real, quantise=True)[0], real)
    np.testing.assert_array_equal(model(real + np.float32(0.12), quantise=True)[0][0, 4:7], real[0, 4:7])  # less than half a step
    too_large = np.full((1, 8), 1e9, np.float32)
    assert (model(too_large, quantise=True)[0] == real.max()).all() and (model(-too_large, quantise=True)[0] == real.min()).all()
    assert f"has elements of type float32, the model takes {PLAIN[type]}; pass quantise=True" in refusal(model, real)


def refusal(function, *arguments, **keywords) -> str:
    with pytest.raises(intarsia.Error) as caught:
        function(*arguments, **keywords)
    return str(caught.value)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("type", ["i8", "u8", "i16"])
def test_outputs_are_real_numbers_on_request(type, runner):
    zero_point = {"i8": -3, "u8": 120, "i16": 0}[type]
    model = runner(one_operator("quantize", "f32[1,8]", f"{type}[1,8] q(0.5:{zero_point})"))
    values = np.array([[0, 0.5, 1, 1.2, -1.3, 3, 4, 5]], np.float32)
    (elements,) = model(values)
    assert elements.dtype == np.dtype(PLAIN[type])
    np.testing.assert_array_equal(elements, np.array([[0, 1, 2, 2, -3, 6, 8, 10]]) + zero_point)
    (real,) = model(values, quantise=True)
    np.testing.assert_array_equal(real, np.array([[0, 0.5, 1, 1, -1.5, 3, 4, 5]], np.float32))


@pytest.mark.parametrize("runner", RUNNERS)
def test_logic(runner):
    model = runner(one_operator("logical_not", "bool[1,4]", "bool[1,4]"))
    values = np.array([[True, False, False, True]])
    assert model(values)[0].tolist() == [[False, True, True, False]]
    assert model(values.astype(np.float32), quantise=True)[0].tolist() == [[False, True, True, False]]
    assert "the model takes bool; x.astype('bool')" in refusal(model, values.astype(np.uint8))


FOUR_BITS = one_operator("reshape", "i4[1,5] q(0.5:1)", "i4[5,1] q(0.5:1)", "{shape=[5,1]}")


def test_four_bits_are_int8_from_minus_8_to_7():
    model = intarsia.Model(FOUR_BITS)
    (given,) = model.inputs
    assert (given.type, given.dtype) == ("i4", np.dtype("int8"))
    values = np.array([[-8, 7, 0, -1, 3]], np.int8)  # an odd number: the last byte is half empty
    (result,) = model(values)
    assert result.dtype == np.int8
    np.testing.assert_array_equal(result, values.T)
    real = np.array([[-4.5, 3, -0.5, 1e6, -1e6]], np.float32)
    np.testing.assert_array_equal(model(real, quantise=True)[0], [[-4.5], [3], [-0.5], [3], [-4.5]])
    for wrong in (-9, 8):
        said = refusal(model, np.array([[0, 0, wrong, 0, 0]], np.int8))
        assert "the model takes integers of 4 bits; give int8 from -8 to 7" in said and str(wrong) in said
    assert "has elements of type uint8, the model takes int8" in refusal(model, values.astype(np.uint8))


def test_four_bits_are_for_weights_where_models_are_compiled():
    assert "operand types i4 -> i4 are not supported" in refusal(intarsia.compile, FOUR_BITS)


def test_types_of_ml_dtypes_are_taken():
    package_or_skip("ml_dtypes")
    import ml_dtypes

    model = intarsia.Model(FOUR_BITS)
    values = np.array([[-8, 7, 0, -1, 3]], np.int8)
    np.testing.assert_array_equal(model(values.astype(ml_dtypes.int4))[0], values.T)
    assert "has elements of type uint4" in refusal(model, np.ones((1, 5), ml_dtypes.uint4))
    short = np.array([[0.5, -1, 2, 3, 1.5]], ml_dtypes.bfloat16)
    np.testing.assert_array_equal(model(short, quantise=True)[0], short.astype(np.float32).T)
    with pytest.raises(intarsia.Error, match="has elements of type bfloat16, the model takes int8; pass quantise=True"):
        model(short)


@pytest.mark.parametrize("given", list(PLAIN))
@pytest.mark.parametrize("made", PLAIN)
def test_casts_are_the_reference_s(given, made):
    """What frameworks put around indices, of 64 bits, among them."""
    model = one_operator("cast", f"{given}[1,8]", f"{made}[1,8]")
    values = extremes(PLAIN[given])
    (expected,) = intarsia.Model(model)(values)
    if (given, made) == ("f32", "i64"):
        assert "operand types f32 -> i64 are not supported" in refusal(intarsia.compile, model)
    else:
        np.testing.assert_array_equal(intarsia.Simulator(model)(values)[0], expected)
        np.testing.assert_array_equal(intarsia.Simulator(model, target="cortex-m4").batch(values[np.newaxis])[0][0], expected)
