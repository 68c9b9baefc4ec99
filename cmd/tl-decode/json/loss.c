/* SPDX-License-Identifier: MIT */
/* Losses: told one by one, and then summed up. */
#include "cmd/tl-decode/json/salvage-priv.h"

/* So many are told in full. */
#define TOLD_MAX 10

static const char *const mend_reasons[MEND_COUNT] = {
	[MEND_CONTROL] = "raw control characters, kept",
	[MEND_UTF8] = "bytes that are no UTF-8, replaced",
	[MEND_QUOTE] = "bare quotes in a string, kept",
	[MEND_ESCAPE] = "backslashes that escape nothing, kept",
	[MEND_COMMA] = "commas before a closing bracket, dropped",
	[MEND_NAN] = "nan or inf, kept",
};

static void
count(struct salvage *sv, const char *reason, uint64_t n)
{
	for (size_t i = 0; i < sv->losses.n; i++) {
		if (strcmp(sv->losses.v[i].reason, reason) == 0) {
			sv->losses.v[i].n += n;
			return;
		}
	}
	vec_push(&sv->losses, ((struct loss){ reason, n }));
}

static bool
is_told(struct salvage *sv)
{
	return ++sv->told <= TOLD_MAX;
}

void
loss_bytes(struct salvage *sv, uint64_t at, uint64_t n, const char *reason)
{
	sv->counts.losses++;
	sv->counts.bytes += n;
	count(sv, reason, 1);
	if (!is_told(sv))
		return;
	if (n == 0)
		report(MSG_DAMAGE, sv->in->name, at, reason);
	else
		report(MSG_BYTES_SKIPPED, sv->in->name, at, n, reason);
}

void
loss_mend(struct salvage *sv, uint64_t at, const char *reason)
{
	sv->counts.mended++;
	count(sv, reason, 1);
	if (is_told(sv))
		report(MSG_DAMAGE, sv->in->name, at, reason);
}

void
loss_mends(struct salvage *sv)
{
	struct cleaner *c = &sv->clean;

	for (int i = 0; i < MEND_COUNT; i++) {
		if (c->mends[i] == 0)
			continue;
		loss_mend(sv, in_offset(sv->in, c->first[i]), mend_reasons[i]);
		sv->counts.mended += c->mends[i] - 1;
		count(sv, mend_reasons[i], c->mends[i] - 1);
	}
}

void
loss_damage(struct salvage *sv, const char *damage)
{
	sv->counts.losses++;
	sv->counts.is_cut = true;
	report(MSG_UNREADABLE_REST, sv->in->name, damage);
}

void
loss_summary(struct salvage *sv)
{
	const struct salvage_counts *c = &sv->counts;

	if (c->losses == 0 && c->mended == 0)
		return;
	if (sv->told > TOLD_MAX)
		for (size_t i = 0; i < sv->losses.n; i++)
			report(MSG_DAMAGE_REPEATED, sv->in->name,
			    sv->losses.v[i].n, sv->losses.v[i].reason);
	report(c->is_cut ? MSG_SALVAGE_CUT : MSG_SALVAGE, sv->in->name,
	    c->events, c->losses, c->bytes, c->mended);
}
