#!/bin/sh
# SPDX-License-Identifier: MIT
# tl-diff on real traces of three models, each on two GPUs: a pair of one model
# is not "different models", every other pair is, in either order.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
have_data || skip_all 'no reference traces (TL_DATA)'
command -v tl-diff >/dev/null || skip_all 'tl-diff is not built'

for gpu in h100 mi300; do
	for model in bert_small nsfw_vit timesformer; do
		tl-tree -o "$gpu.$model.tl" "$TL_DATA/${gpu}_$model"/*.json.gz
	done
done
for before in *.tl; do
	for after in *.tl; do
		[ "$before" != "$after" ] || continue
		was=${before#*.} is=${after#*.} want='3 1'
		[ "$was" != "$is" ] || want='0 0'
		tl-diff --table diff_verdict --no-header "$before" "$after" >said 2>err
		is "$before, $after" "$? $(head -n 1 said | grep -c '^different models?')" "$want"
	done
done
done_testing
