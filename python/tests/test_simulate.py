"""Compiled models executed in the process: they compute what the reference does."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from conftest import DIGITS, LAST_THREE, needs

import intarsia

TARGETS = ["c", "cortex-m4", "cortex-m55+ethos-u55-128", "ethos-u65-256"]


@pytest.mark.parametrize("target", TARGETS)
def test_results_are_the_reference_s(digits, images, goldens, target):
    package = intarsia.compile(digits, target=target, measure=False)
    simulator = intarsia.Simulator(package)
    for image, golden in zip(images[:5], goldens[:5]):
        np.testing.assert_array_equal(simulator(image)[0], golden)
    np.testing.assert_array_equal(intarsia.simulate(package, images[0])[0], goldens[0])
    np.testing.assert_array_equal(intarsia.simulate(digits, [images[1]], target=target)[0], goldens[1])


def test_code_by_llvm_is_executed_here(digits, images, goldens):
    try:
        package = intarsia.compile(digits, target="llvm", measure=False)
    except intarsia.Error as error:
        if "built without LLVM" not in str(error):
            raise
        needs("llvm", "built without LLVM and its clang")
    simulator = intarsia.Simulator(package)
    for image, golden in zip(images[:5], goldens[:5]):
        np.testing.assert_array_equal(simulator(image)[0], golden)
    (scores,) = intarsia.Simulator(digits, target="llvm").batch(images[:9], threads=2)
    np.testing.assert_array_equal(scores.reshape(9, -1), np.asarray(goldens[:9]).reshape(9, -1))


def test_real_numbers_are_quantised_on_request(digits, images, goldens):
    simulator, model = intarsia.Simulator(digits), intarsia.Model(digits)
    assert (simulator.inputs, simulator.outputs) == (model.inputs, model.outputs)
    real = model.inputs[0].dequantise(images[0])
    np.testing.assert_array_equal(simulator(real, quantise=True)[0], model(real, quantise=True)[0])


def test_operators_show_their_results(digits, images):
    results = intarsia.Simulator(digits, keep_dead_channels=True).run_all(images[0])
    reference = {name: value for name, value in intarsia.Model(digits).run_all(images[0]).items()}
    assert results
    computed = [value for value in reference.values()]
    for name, value in results.items():
        assert any(value.shape == other.shape and np.array_equal(value, other) for other in computed), name


def test_samples_run_side_by_side(digits, images, goldens):
    simulator = intarsia.Simulator(digits, target="cortex-m55+ethos-u55-128")
    told = []
    (scores,) = simulator.batch(images[:30], threads=3, progress=lambda done, all: told.append((done, all)))
    np.testing.assert_array_equal(scores, goldens[:30])
    assert sorted(told) == [(done, 30) for done in range(1, 31)]
    (scores,) = simulator.batch(images[:7].reshape(7, 8, 8, 1))
    np.testing.assert_array_equal(scores, goldens[:7])


def test_what_a_callback_raises_ends_the_batch(digits, images):
    def progress(done: int, all: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        intarsia.Simulator(digits).batch(images[:30], progress=progress)


def test_state_goes_on_until_it_is_reset_and_samples_have_none():
    simulator = intarsia.Simulator(LAST_THREE)

    def step(value: float) -> float:
        return simulator(np.full((1, 1), value, np.float32))[0].item()

    assert [step(value) for value in (1, 2, 3, 4)] == [1, 3, 6, 9]
    simulator.reset()
    assert step(7) == 7
    (alone,) = simulator.batch(np.array([[[1]], [[2]], [[3]]], np.float32))
    np.testing.assert_array_equal(alone.reshape(-1), [1, 2, 3])


def test_devices_tell_what_they_did(digits, images):
    simulator = intarsia.Simulator(digits, target="ethos-u55-128", trace=True)
    simulator(images[0])
    assert simulator.profile and simulator.trace()["traceEvents"]
    alone = intarsia.Simulator(digits)
    alone(images[0])
    assert alone.profile == [] and alone.trace() is None


def test_what_cannot_be_executed_is_an_error(digits, images):
    with pytest.raises(intarsia.Error):
        intarsia.simulate(digits, images[0], target="no-such-target")
    with pytest.raises(intarsia.Error, match="input 0"):
        intarsia.simulate(digits, images[0].astype(np.float32))
    with pytest.raises(TypeError, match="target"):
        intarsia.Simulator(intarsia.compile(digits, measure=False), target="c")
    with pytest.raises(intarsia.Error, match="there are no samples"):
        intarsia.Simulator(digits).batch(images[:0])


def test_the_simulator_outlives_its_package(digits, images, goldens):
    simulator = intarsia.Simulator(intarsia.compile(digits, measure=False))
    del simulator.package
    np.testing.assert_array_equal(simulator(images[0])[0], goldens[0])


@pytest.mark.parametrize("target", [*TARGETS, "ethos-n78-4tops-4ple"])
def test_verify_finds_no_difference(digits, images, target):
    found = intarsia.verify(digits, target=target)
    assert found and found.difference is None and found.samples == 4
    assert found.operators and all(operator.difference is None for operator in found.operators)
    assert "agree on 4 samples" in str(found)
    assert bool(intarsia.verify(digits, images[:3], target=target, layers=False))


def test_evaluate_counts_what_is_right(digits, images):
    labels = np.fromfile(DIGITS / "test_labels.bin", np.uint8)
    found = intarsia.evaluate(digits, images, "cortex-m55+ethos-u55-128", labels=labels, reference=True)
    assert found.samples == found.equal_to_reference == len(labels)
    assert found.correct == int((found.outputs[0].reshape(len(labels), 10).argmax(1) == labels).sum())
    assert found.accuracy == found.correct / len(labels) > 0.9
    assert str(found.correct) in repr(found) and found.package.report.ram > 0
    plain = intarsia.evaluate(intarsia.compile(digits, measure=False), images[:9])
    assert plain.accuracy is None and plain.equal_to_reference is None and plain.samples == 9
    with pytest.raises(intarsia.Error, match="labels: are 360, the samples 9"):
        intarsia.evaluate(digits, images[:9], labels=labels)


@pytest.mark.parametrize("labels, said", [
    ([0, 10], "hold 10, and the first output, whose largest element is what is predicted, has 10; write 0 to 9"),
    ([-1, 0], "hold -1"), ([0.5, 1], "are no whole numbers"), (["three", "four"], "are no whole numbers"),
    ([np.nan, 1], "are no whole numbers")])
def test_labels_are_classes(digits, images, labels, said):
    with pytest.raises(intarsia.Error, match=f"labels: {said}"):
        intarsia.evaluate(digits, images[:2], labels=labels)
    assert intarsia.evaluate(digits, images[:2], labels=[9.0, 0.0]).samples == 2


@pytest.mark.parametrize("samples", [0, 10001, 2.5, "4", True, None])
def test_made_samples_are_counted_in_whole_numbers(digits, samples):
    with pytest.raises(intarsia.Error, match="samples: is .*; write 1 to 10000"):
        intarsia.verify(digits, samples=samples)


def test_profiles_are_json(digits, images):
    simulator = intarsia.Simulator(digits, target="ethos-u55-128")
    simulator(images[0])
    json.dumps(simulator.profile)


def two_inputs() -> bytes:
    """x + y of int8 without a scale in common: any model with two inputs."""
    return (b"intarsia.graph pair\nfunc @main(%0, %1) -> (%2) {\n  %0 x: i8[1,4] q(0.5:0)\n  %1 y: i8[1,4] q(0.5:0)\n"
            b"  %2 z: i8[1,4] q(0.5:0)\n  add sum(%0, %1) -> (%2)\n}\nentry @main\n")


def test_options_of_compile_are_taken(digits):
    assert intarsia.Simulator(digits, measure=False).package.report.flash is None
    told = []
    intarsia.Simulator(digits, progress=lambda stage, what: told.append(stage))
    assert "lower" in told
    with pytest.raises(TypeError, match="foo"):
        intarsia.Simulator(digits, foo=1)


@pytest.mark.parametrize("threads", [-1, 1025, 1.5, "2", True, None])
def test_threads_are_a_number(digits, images, threads):
    with pytest.raises(intarsia.Error, match="threads: is .*; write 0 .one for each core. to 1024"):
        intarsia.Simulator(digits).batch(images[:2], threads=threads)


def test_one_sample_may_be_for_all(tmp_path):
    path = tmp_path / "pair.graph"
    path.write_bytes(two_inputs())
    x = np.arange(12, dtype=np.int8).reshape(3, 4)
    y = np.array([[10, 20, 30, 40]], np.int8)
    simulator = intarsia.Simulator(path)
    expected = (x + y).reshape(3, 1, 4)
    for one in (y, y.reshape(1, 1, 4)):
        np.testing.assert_array_equal(simulator.batch(x, one)[0], expected)
        np.testing.assert_array_equal(simulator.batch(one, x)[0], expected)
    np.testing.assert_array_equal(simulator.batch(y, y)[0], (y + y).reshape(1, 1, 4))
    assert intarsia.verify(path, [x, y])
    assert intarsia.evaluate(path, [x, y], reference=True).equal_to_reference == 3
    with pytest.raises(intarsia.Error, match="input 1 'y'"):
        simulator.batch(x, x[:2])


def test_nan_is_no_quantised_number(digits, images):
    real = np.zeros((1, 8, 8, 1), np.float32)
    real[0, 3, 3, 0] = np.nan
    for call in (intarsia.Model(digits), intarsia.Simulator(digits), intarsia.Simulator(digits).batch):
        with pytest.raises(intarsia.Error, match="input 0 'image': has elements that are NaN"):
            call(real, quantise=True)
    assert np.isnan(intarsia.Simulator(LAST_THREE)(np.full((1, 1), np.nan, np.float32), quantise=True)[0]).all()


def test_what_has_state_is_not_copied(digits):
    package = intarsia.compile(digits, measure=False)
    assert copy.copy(package) is package and copy.deepcopy(package) is package
    with pytest.raises(TypeError, match="an intarsia.Package cannot be pickled: send its files"):
        pickle.dumps(package)
    for it, again in ((intarsia.Model(digits), "read the model's file again"), (intarsia.Simulator(package), "make another one")):
        for take in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=again):
                take(it)


def test_what_runs_only_when_it_is_built_is_said_in_words(digits):
    with pytest.raises(intarsia.Error, match="opencl is not simulated in this process; .intarsia run --native. builds its C and runs that"):
        intarsia.Simulator(digits, target="c+opencl")
