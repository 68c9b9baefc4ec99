# SPDX-License-Identifier: MIT
"""sitecustomize.py: each Python of a test looks for cycles less often.

The oracles hold traces of a million objects. By default all of these are walked again
and again, which takes a sixth of their time and frees nothing.
"""
import gc

gc.set_threshold(50_000, 10, 10)
