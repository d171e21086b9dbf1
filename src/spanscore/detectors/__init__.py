"""Detectors: what finds spans in texts, behind one small protocol."""

from spanscore.detectors.detector import Detector, Entities, Failure, Outcome
from spanscore.detectors.registry import DetectorSpec, detect, names

__all__ = ["Detector", "DetectorSpec", "Entities", "Failure", "Outcome", "detect", "names"]
