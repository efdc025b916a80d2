"""What every random case is drawn with."""


class Chances:
    def __init__(self, rng):
        self.rng = rng

    def whole(self, least, most):
        return int(self.rng.integers(least, most + 1))

    def chance(self, percent):
        return self.rng.integers(100) < percent

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]
