/* SPDX-License-Identifier: MIT */
/*
 * junit: verdicts as JUnit's XML, for what shows the tests of a CI job.
 *
 *	struct junit *t = junit_open("gates.xml", "tl-collective");
 *	junit_case(t, JUNIT_FAILED, STR("wait:5%"), STR("group 0"), text);
 *	junit_finish(t);
 *
 * The file appears under its name only when whole. It has no times and no
 * host: the same verdicts are the same bytes.
 */
#ifndef TL_TABLE_JUNIT_H
#define TL_TABLE_JUNIT_H

#include "io/io.h"

enum junit_result {
	JUNIT_PASSED,
	JUNIT_FAILED,
	JUNIT_ERROR,   /* could not be judged */
	JUNIT_SKIPPED, /* nothing to judge */
	JUNIT_RESULTS,
};

struct junit;
/* NULL without a path: the other functions do nothing then. */
struct junit *junit_open(const char *path, const char *suite);
/* class: the rule; name: what it is about; text: why. */
void junit_case(struct junit *t, enum junit_result result, struct str class,
    struct str name, struct str text);
void junit_finish(struct junit *t);

#endif
