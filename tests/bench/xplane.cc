// SPDX-License-Identifier: MIT
// protobuf's own parser over an XPlane file: the yardstick of tests/bench/run.
#include <cstdio>
#include <fstream>

#include "xplane.pb.h"

int
main(int argc, char *argv[])
{
	bench::XSpace space;
	std::ifstream in(argc > 1 ? argv[1] : "", std::ios::binary);
	long events = 0;

	if (!space.ParseFromIstream(&in))
		return 1;
	for (const auto &plane : space.planes())
		for (const auto &line : plane.lines())
			events += line.events_size();
	std::printf("%ld\n", events);
	return 0;
}
