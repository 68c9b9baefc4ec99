#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-replay: which ops, what a script of them holds, bad input.
. tests/cli/lib.sh

command -v tl-replay >/dev/null || skip_all 'not built'

page_examples tl-replay.1
done_testing
