"""Words of a synthetic voice: harmonics and noise under the formants of phonemes. The vowels' formants are the averages
of G. E. Peterson and H. L. Barney, "Control methods used in a study of the vowels", J. Acoust. Soc. Am. 24, 1952."""
import numpy as np

RATE = 16000
STEP = 80  # samples between two states of the voice, 5 ms

# Voiced: three formants in Hz and an amplitude. Noise: lower and upper end in Hz and an amplitude.
VOICED = {
    "i": (270, 2290, 3010, 0.8), "e": (530, 1840, 2480, 0.9), "a": (730, 1090, 2440, 1.0), "o": (570, 840, 2410, 0.9),
    "u": (300, 870, 2240, 0.8), "m": (250, 1000, 2200, 0.35), "n": (250, 1500, 2500, 0.35), "l": (360, 1100, 2600, 0.5),
}
NOISE = {"s": (4500, 7500, 0.25), "h": (2200, 4500, 0.25), "f": (1500, 7500, 0.12)}
VOWELS = "ieaou"


def smooth(values, width):
    kernel = np.hanning(width + 2)[1:-1]
    padded = np.pad(values, ((width // 2, width // 2), (0, 0)), mode="edge")
    return np.stack([np.convolve(c, kernel / kernel.sum(), mode="valid")[:len(values)] for c in padded.T], axis=1)


def band_noise(rng, count, low, high):
    spectrum = np.fft.rfft(rng.standard_normal(count))
    frequency = np.fft.rfftfreq(count, 1 / RATE)
    edge = 300.0
    shape = 1 / (1 + np.exp((low - frequency) / edge)) / (1 + np.exp((frequency - high) / edge))
    return np.fft.irfft(spectrum * shape, count)


def say(word, rng):
    """Samples of one word by a voice of its own; the peak is 1."""
    tempo, tract, pitch = rng.uniform(0.85, 1.2), rng.uniform(0.88, 1.15), rng.uniform(90, 230)
    durations = [max(3, round((rng.uniform(22, 30) if p in VOWELS else rng.uniform(13, 20)) * tempo)) for p in word]
    states, noise_at = [], []
    formants = VOICED[next(p for p in word if p in VOICED)]
    for phoneme, length in zip(word, durations):
        formants = VOICED.get(phoneme, (*formants[:3], 0.0))
        states += [[*(tract * f for f in formants[:3]), formants[3]]] * length
        noise_at += [phoneme if phoneme in NOISE else ""] * length
    silence = 4  # states before and after, so that the word fades in and out
    states = [[*states[0][:3], 0.0]] * silence + states + [[*states[-1][:3], 0.0]] * silence
    noise_at = [""] * silence + noise_at + [""] * silence
    states = smooth(np.array(states), 7)
    count = (len(states) - 1) * STEP
    time = np.arange(count)
    state, part = time // STEP, (time % STEP / STEP)[None, :]

    drift = 1 + 0.12 * np.sin(2 * np.pi * (time / count * rng.uniform(0.4, 1.0) + rng.uniform()))
    phase = 2 * np.pi * np.cumsum(pitch * drift) / RATE
    harmonics = np.arange(1, int(7000 / (pitch * 1.12)) + 1)
    frequency = pitch * harmonics[:, None]
    gain = np.zeros((len(harmonics), len(states)))
    for i, (width, level) in enumerate([(80, 1.0), (110, 0.5), (170, 0.25)]):
        gain += level / (1 + ((frequency - states[:, i]) / width) ** 2)
    gain *= states[:, 3] / np.sqrt(harmonics)[:, None]
    amplitude = gain[:, state] * (1 - part) + gain[:, state + 1] * part
    x = (amplitude * np.sin(harmonics[:, None] * phase)).sum(axis=0)

    for phoneme in sorted(set(noise_at) - {""}):
        low, high, level = NOISE[phoneme]
        on = smooth(np.array([[float(p == phoneme)] for p in noise_at]), 7)[:, 0]
        hiss = band_noise(rng, count, low, high)
        x += level * 3 * hiss / hiss.std() * (on[state] * (1 - part[0]) + on[state + 1] * part[0]) * 0.4
    return x / np.abs(x).max()


def background(rng, count):
    """Noise whose power falls with frequency, as that of rooms and fans; standard deviation 1."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    slope = rng.uniform(0.0, 0.8)
    x = np.fft.irfft(spectrum / (1 + np.fft.rfftfreq(count, 1 / RATE) / 100) ** slope, count)
    return x / x.std()
