"""Slopes of the parameters in ε, of any subject: the paper's Figure 1."""

from .families.bidiagonal.slopes import Linearity, Slopes, checked_eps, slopes_of
from .tools.perturbation import slopes

__all__ = ["Linearity", "Slopes", "checked_eps", "slopes", "slopes_of"]
