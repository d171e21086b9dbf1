"""Generate labelled text from templates and fake values."""

from spanscore.generate.generator import generate, locales

__all__ = ["generate", "locales"]
