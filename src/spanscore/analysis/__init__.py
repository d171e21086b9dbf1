"""Analyses of results: system comparison, threshold sweeps and quality gates."""
