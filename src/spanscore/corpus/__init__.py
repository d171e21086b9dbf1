"""Corpora: documents and their spans, stored as immutable columns."""

from spanscore.corpus.corpus import MAX_OFFSET, Corpus, Flaw, LabelTable, Tokens

__all__ = ["MAX_OFFSET", "Corpus", "Flaw", "LabelTable", "Tokens"]
