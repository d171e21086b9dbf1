"""Labelled text made up from templates and invented values."""

from spanscore.generate.generator import generate, locales

__all__ = ["generate", "locales"]
