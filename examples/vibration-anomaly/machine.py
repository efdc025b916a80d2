"""The acceleration at a motor's bearing, drawn: shaft and gear tones on noise, and three faults of textbooks (Randall,
Vibration-based Condition Monitoring, 2011): imbalance (more of the shaft's own frequency), a damaged outer race (a blow each
time a ball passes, which the housing answers with its resonance), and a loose foot (halves and multiples of the shaft's
frequency)."""
import numpy as np

RATE = 8000
TEETH = 17
BALLS_PASSING = 3.57  # per turn of the shaft: nine balls, a fifth as large as the circle they run on


def healthy(rng, count):
    """int16-sized real samples of a motor between 22 and 31 turns a second and between half and full load."""
    turns, load = rng.uniform(22, 31), rng.uniform(0.5, 1.0)
    drift = 1 + 0.01 * np.sin(2 * np.pi * rng.uniform(0.1, 0.4) * np.arange(count) / RATE + rng.uniform(0, 6.28))
    angle = 2 * np.pi * np.cumsum(turns * drift) / RATE
    x = 90 * np.sin(angle) + 35 * np.sin(2 * angle + 1) + 15 * np.sin(3 * angle + 2)
    for i, level in enumerate((160, 60, 25)):
        x += load * level * np.sin(TEETH * (i + 1) * angle + i) * (1 + 0.2 * np.sin(angle))
    noise = rng.standard_normal(count + 8)
    x += 45 * load * np.convolve(noise, np.ones(9) / 3, "valid")  # low frequencies, from the load
    return x + 25 * rng.standard_normal(count), angle, turns


def imbalance(rng, x, angle, severity):
    return x + severity * 420 * np.sin(angle + 0.7)


def looseness(rng, x, angle, severity):
    return x + severity * sum(200 / (1 + abs(order - 2)) * np.sin(order * angle + order)
                              for order in (0.5, 1.5, 2, 2.5, 3, 4, 5, 6))


def outer_race(rng, x, angle, severity):
    """Decaying swings of 2.3 kHz, which last a millisecond and a half."""
    blows = np.zeros(len(x))
    passing = np.floor(BALLS_PASSING * angle / (2 * np.pi))
    at = np.flatnonzero(np.diff(passing) > 0)
    blows[at] = rng.uniform(0.7, 1.3, len(at))
    time = np.arange(60) / RATE
    return x + severity * 700 * np.convolve(blows, np.exp(-time / 0.0015) * np.sin(2 * np.pi * 2300 * time))[:len(x)]


def to_samples(x):
    return np.clip(np.round(x * 8), -32768, 32767).astype(np.int16)
