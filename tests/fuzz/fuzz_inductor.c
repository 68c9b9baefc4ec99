/* SPDX-License-Identifier: MIT */
/*
 * Wrapper files of torch.compile: whatever the text, each kernel that is found
 * has a name that stands in it, and facts without a line's end of their own.
 */
#include <stdlib.h>

#include "cmd/tl-roofline/inductor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inductor *in = inductor_create();
	struct str text = { (const char *)data, size }, fact;

	inductor_parse(in, text);
	inductor_parse(in, text); /* all are known now */
	if (inductor_fact(in, STR("triton_x"), STR("inductor_sizes"), &fact) &&
	    (fact.len == 0 || fact.len > size + 8))
		abort();
	if (inductor_fact(in, STR("triton_x"), STR("inductor_other"), &fact))
		abort();
	inductor_free(in);
	return 0;
}
