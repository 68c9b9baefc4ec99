/* SPDX-License-Identifier: MIT */
/* The list of quirks, and the events that have them. */
#include "gen.h"

#include <stdio.h>

static const struct {
	const char *name, *text;
} list[] = {
#define X(id, name, text) { name, text },
	QUIRKS(X)
#undef X
};

bool
quirk_on(const struct conf *cf, enum quirk q)
{
	return (cf->quirks[q / 64] >> (q % 64) & 1) != 0;
}

/* One in so many events, chosen by the event's ordinal. */
bool
quirk_some(const struct emit *e, enum quirk q, uint64_t one_in)
{
	return quirk_on(e->cf, q) && mix(e->hash, (uint64_t)q) % one_in == 0;
}

bool
quirk_add(struct conf *cf, const char *name)
{
	for (int i = 0; i < Q_COUNT; i++) {
		if (strcmp(list[i].name, name) == 0) {
			cf->quirks[i / 64] |= (uint64_t)1 << (i % 64);
			return true;
		}
	}
	return false;
}

void
quirk_list(void)
{
	for (int i = 0; i < Q_COUNT; i++)
		printf("%-16s %s\n", list[i].name, list[i].text);
}
