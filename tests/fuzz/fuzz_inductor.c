/* SPDX-License-Identifier: MIT */
/*
 * Wrapper files of torch.compile: for any text, each kernel found has a name
 * that is in the text, and a source.
 */
#include <stdlib.h>

#include "cmd/tl-roofline/inductor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inductor *in = inductor_create();
	struct str text = { (const char *)data, size }, source;

	inductor_parse(in, text);
	inductor_parse(in, text); /* all are known now */
	if (inductor_source(in, STR("triton_x"), &source) &&
	    (source.len == 0 || source.len > size))
		abort();
	inductor_free(in);
	return 0;
}
