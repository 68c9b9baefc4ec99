/* SPDX-License-Identifier: MIT */
/*
 * A file of causes: rules are taken whole, or not at all and with a reason.
 * After any of them a name has a cause.
 */
#include <stdlib.h>

#include "trace/cause.h"

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *p = xcalloc(1, size + IN_PAD);
	struct causes *c = causes_create();
	struct dict *dict = dict_create();
	struct buf why = { 0 };
	uint32_t name;
	bool is_good;

	if (size > 0)
		memcpy(p, data, size);
	is_good = causes_read(c, (struct str){ (const char *)p, size }, &why);
	CHECK(is_good == (why.len == 0));
	name = intern_put(dict->text,
	    (struct str){ (const char *)data, size < 100 ? size : 100 });
	for (int is_call = 0; is_call < 2; is_call++) {
		const struct cause_name *n =
		    cause_of_name(c, dict, name, is_call != 0);

		CHECK(n->call < CAUSE_COUNT && n->op < CAUSE_COUNT &&
		    n->python < CAUSE_COUNT && n->other < CAUSE_COUNT);
		CHECK(n->above < 1 << CAUSE_ABOVE_COUNT);
	}
	buf_free(&why);
	dict_destroy(dict);
	causes_destroy(c);
	free(p);
	return 0;
}
