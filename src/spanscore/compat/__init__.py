"""Entry points in the shape of other libraries: seqeval, nervaluate, presidio-evaluator, Hugging Face and spaCy."""
