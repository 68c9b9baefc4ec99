/* SPDX-License-Identifier: MIT */
/* Modules of XLA: see hlo.h. */
#include "cmd/tl-decode/xplane/hlo.h"

struct hlo {
	int unused;
};

struct hlo *
hlo_create(void)
{
	return xcalloc(1, sizeof(struct hlo));
}

void
hlo_destroy(struct hlo *h)
{
	vec_release(h);
}

void
hlo_name(
    struct hlo *h, uint64_t program, struct str instruction, struct str text)
{
	(void)h;
	(void)program;
	(void)instruction;
	(void)text;
}

bool
hlo_module(struct hlo *h, struct source_state *s, uint64_t program,
    struct str name, struct str proto, struct hlo_fault *fault)
{
	(void)h;
	(void)s;
	(void)program;
	(void)name;
	(void)proto;
	(void)fault;
	return true;
}

void
hlo_finish(struct hlo *h, struct source_state *s)
{
	(void)h;
	(void)s;
}
