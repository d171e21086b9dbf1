"""Engines: how the work of scoring is laid out. The measures are the same in all."""
