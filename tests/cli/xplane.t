#!/bin/sh
# SPDX-License-Identifier: MIT
# Generated and recorded XPlane files: all that they have is in the stream, and
# each program finds the figures that the generator planted.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

gen() { # gen DIR OPTION...
	dir=$1
	shift
	python3 "$ROOT/tests/gen/xplane.py" -o "$dir" "$@"
}
whole() { # whole FILE: every event, stat and name
	tl-decode "$1" | tl-cat >whole.nd
	python3 "$ROOT/tests/oracle/xplane_events.py" "$1" whole.nd
}
planted() { # planted DIR CHECK...
	python3 "$ROOT/tests/oracle/jax_planted.py" "$@"
}

gen job --hosts 2 --gpus 2 --iota --late 3:40000
gen one --ps --memory --gz
gen amd --amd --zst --no-scopes
gen graphs --graphs --no-launches --no-steps
gen launched --graphs
gen tpu --tpu --hosts 2 --gpus 2

for f in job/host1.xplane.pb one/host0.xplane.pb.gz amd/host0.xplane.pb.zst graphs/host0.xplane.pb \
	launched/host0.xplane.pb tpu/host1.xplane.pb "$ROOT"/tests/data/h100/*.xplane.pb.gz; do
	ok "${f##"$ROOT"/}: every event and stat is in the stream" whole "$f"
done

for dir in job one amd graphs launched; do
	ok "$dir: timeline and kernels of each GPU" planted $dir timeline kernels
done
ok 'tpu: ops' planted tpu kernels
done_testing
