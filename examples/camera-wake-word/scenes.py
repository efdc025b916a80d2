"""Drawn scenes of 160x120 pixels: rooms and streets with things in them, and in half of them a person."""
import numpy as np

HEIGHT, WIDTH = 120, 160
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)


class Scene:
    def __init__(self, rng):
        self.rng = rng
        top, bottom = rng.uniform(30, 220, 3), rng.uniform(30, 220, 3)
        horizon = rng.uniform(50, 105)
        self.rgb = np.where((Y < horizon)[..., None], top, bottom).astype(np.float32)
        self.rgb += (rng.uniform(-0.4, 0.4) * (X - 80) + rng.uniform(-0.4, 0.4) * (Y - 60))[..., None]
        self.rgb += (rng.uniform(0, 12) * np.sin(X * rng.uniform(0.1, 0.8) + Y * rng.uniform(-0.3, 0.3)))[..., None]

    def colour(self):
        return self.rng.uniform(10, 245, 3)

    def paint(self, distance, colour):
        """`distance` to the edge in pixels, positive outside."""
        cover = np.clip(0.5 - distance, 0, 1)[..., None]
        self.rgb += cover * (np.asarray(colour, np.float32) - self.rgb)

    def limb(self, x0, y0, x1, y1, radius0, radius1, colour):
        """A stroke between two points whose radius changes on the way."""
        dx, dy = x1 - x0, y1 - y0
        t = np.clip(((X - x0) * dx + (Y - y0) * dy) / (dx * dx + dy * dy + 1e-6), 0, 1)
        self.paint(np.hypot(X - x0 - t * dx, Y - y0 - t * dy) - (radius0 + t * (radius1 - radius0)), colour)

    def oval(self, x, y, rx, ry, colour):
        self.paint((np.hypot((X - x) / rx, (Y - y) / ry) - 1) * min(rx, ry), colour)

    def box(self, x0, y0, x1, y1, colour):
        self.paint(np.maximum(np.maximum(x0 - X, X - x1), np.maximum(y0 - Y, Y - y1)), colour)

    # ---- things ----

    def tree(self, x, foot, size):
        self.limb(x, foot, x, foot - size * 0.6, size * 0.07, size * 0.05, (90, 60, 30))
        green = (30, self.rng.uniform(80, 170), 40)
        for _ in range(4):
            self.oval(x + self.rng.uniform(-0.2, 0.2) * size, foot - size * self.rng.uniform(0.6, 0.95),
                      size * self.rng.uniform(0.15, 0.3), size * self.rng.uniform(0.12, 0.25), green)

    def lamp(self, x, foot, size):
        self.limb(x, foot, x, foot - size, size * 0.025, size * 0.02, (50, 50, 55))
        self.oval(x, foot - size, size * 0.09, size * 0.07, (250, 240, 190))

    def chair(self, x, foot, size):
        colour, half = self.colour(), size * 0.25
        self.box(x - half, foot - size * 0.5, x + half, foot - size * 0.42, colour)
        self.box(x - half, foot - size, x - half + size * 0.08, foot, colour)
        self.box(x + half - size * 0.08, foot - size * 0.45, x + half, foot, colour)

    def dog(self, x, foot, size):
        colour, way = self.colour(), self.rng.choice([-1, 1])
        size *= 0.7
        self.oval(x, foot - size * 0.45, size * 0.42, size * 0.16, colour)
        for at in (-0.33, -0.22, 0.22, 0.33):
            self.limb(x + at * size, foot - size * 0.4, x + at * size, foot, size * 0.05, size * 0.04, colour)
        self.oval(x + way * size * 0.5, foot - size * 0.68, size * 0.16, size * 0.12, colour)
        self.limb(x - way * size * 0.4, foot - size * 0.5, x - way * size * 0.6, foot - size * 0.75, 2, 1, colour)

    def boxes(self, x, foot, size):
        for level in range(self.rng.integers(1, 4)):
            half, height = size * self.rng.uniform(0.12, 0.25), size * 0.3
            self.box(x - half, foot - (level + 1) * height, x + half, foot - level * height, self.colour())

    def window(self, x, foot, size):
        colour, half = self.colour(), size * 0.25
        self.box(x - half, foot - size, x + half, foot - size * 0.35, colour)
        self.box(x - half + 2, foot - size + 2, x - 1, foot - size * 0.35 - 2, colour + 40)
        self.box(x + 1, foot - size + 2, x + half - 2, foot - size * 0.35 - 2, colour + 40)

    def thing(self):
        kind = self.rng.choice(["tree", "lamp", "chair", "dog", "boxes", "window"])
        getattr(self, kind)(self.rng.uniform(15, 145), self.rng.uniform(75, 119), self.rng.uniform(35, 90))

    def person(self):
        rng = self.rng
        size = rng.uniform(74, 112)
        x, foot = rng.uniform(45, 115), rng.uniform(max(80, size + 2), 122)
        skin = np.array([225, 175, 140]) * rng.uniform(0.35, 1.08)
        shirt, trousers, hair = self.colour(), self.colour(), rng.uniform(10, 120, 3)
        unit = size / 8  # a head is an eighth, as drawing teaches
        shoulder, hip = foot - 6.4 * unit, foot - 3.9 * unit
        for side in (-1, 1):
            knee = (x + side * unit * rng.uniform(0.3, 1.0), foot - 2 * unit)
            self.limb(x + side * 0.4 * unit, hip, *knee, 0.55 * unit, 0.42 * unit, trousers)
            self.limb(*knee, knee[0] + unit * rng.uniform(-0.5, 0.5), foot - 0.2 * unit, 0.42 * unit, 0.3 * unit,
                      trousers)
        self.limb(x, shoulder + 0.3 * unit, x, hip, 0.95 * unit, 0.75 * unit, shirt)
        for side in (-1, 1):
            angle = rng.uniform(0.1, 1.1) if rng.random() < 0.8 else rng.uniform(1.6, 2.8)
            elbow = (x + side * (0.95 + 1.5 * np.sin(angle)) * unit, shoulder + 1.5 * np.cos(angle) * unit)
            bend = angle + rng.uniform(-0.5, 0.5)
            self.limb(x + side * 0.95 * unit, shoulder, *elbow, 0.38 * unit, 0.3 * unit, shirt)
            self.limb(*elbow, elbow[0] + side * 1.4 * np.sin(bend) * unit, elbow[1] + 1.4 * np.cos(bend) * unit,
                      0.28 * unit, 0.22 * unit, skin)
        self.limb(x, shoulder, x, shoulder - 0.6 * unit, 0.3 * unit, 0.3 * unit, skin)
        self.oval(x, foot - 7.45 * unit, 0.52 * unit, 0.6 * unit, hair)
        self.oval(x, foot - 7.25 * unit, 0.44 * unit, 0.52 * unit, skin)

    def rgb565(self):
        noisy = self.rgb + self.rng.standard_normal(self.rgb.shape) * self.rng.uniform(0, 6)
        level = np.clip(np.round(noisy), 0, 255).astype(np.uint16)
        return (level[..., 0] >> 3 << 11 | level[..., 1] >> 2 << 5 | level[..., 2] >> 3).astype(np.uint16)


def draw(rng, person):
    scene = Scene(rng)
    for _ in range(rng.integers(1, 4)):
        scene.thing()
    if person:
        scene.person()
    if rng.random() < 0.2:
        scene.boxes(rng.uniform(10, 150), rng.uniform(110, 130), rng.uniform(20, 45))
    return scene.rgb565()
