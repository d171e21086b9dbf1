"""Attacks on readers: mutated inputs, a campaign that counts them, and a harness for atheris."""
