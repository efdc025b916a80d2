"""All random operators: each module adds its own to the table when it is imported."""
import counting_operators
import placing_operators
import recurrent_operators
from operators import OPERATORS, Draw, draw

MODULES = (counting_operators, placing_operators, recurrent_operators)
__all__ = ("MODULES", "OPERATORS", "Draw", "draw")
