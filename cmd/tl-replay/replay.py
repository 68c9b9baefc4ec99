# SPDX-License-Identifier: MIT
"""Replays ops of a GPU profiler trace: see tl-replay(1)."""
