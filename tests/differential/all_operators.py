"""All random operators: each module adds its own to the table when it is imported."""
import counting_operators
import further_operators
import narrow_weights
import placing_operators
import recurrent_operators
import unsigned_operators
from operators import OPERATORS, Draw, draw

MODULES = (counting_operators, further_operators, narrow_weights, placing_operators, recurrent_operators, unsigned_operators)
__all__ = ("MODULES", "OPERATORS", "Draw", "draw")
