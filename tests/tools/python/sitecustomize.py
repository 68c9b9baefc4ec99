# SPDX-License-Identifier: MIT
"""sitecustomize.py: each Python of a test looks for cycles less often.

The oracles hold traces of a million objects. By default all of these are walked again
and again, which takes a sixth of their time and frees nothing. The sitecustomize of
the system or environment, which this one hides, is run, too.
"""
import gc
import importlib.machinery
import importlib.util
import os
import sys

gc.set_threshold(50_000, 10, 10)


def run_next():
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


run_next()
