/* SPDX-License-Identifier: MIT */
#include "sink/cells.h"

#include "trace/step.h"

struct cell
cell_uid(struct table *t, struct uid uid)
{
	char text[UID_MAX];

	if (uid.inst == UID_NONE)
		return cell_none();
	if (uid.inst == 0)
		return cell_int((int64_t)uid.id);
	return cell_text(
	    table_row_text(t, (struct str){ text, uid_put(text, uid) }));
}

struct cell
cell_string(const struct dict *st, uint32_t id)
{
	return id == INTERN_NONE ? cell_none() : cell_text(dict_get(st, id));
}

struct cell
cell_share(int64_t part, double whole)
{
	return whole > 0 ? cell_real((double)part / whole * 100) : cell_none();
}

void
column_of_uids(struct column *columns, size_t n, const char *id, bool any_inst)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(columns[i].id, id) == 0)
			columns[i].type = any_inst ? COL_TEXT : COL_INT;
}

void
note_inferred(struct table *t, unsigned from)
{
	struct buf b = { 0 };

	for (int i = 0; i < STEP_FROM_COUNT; i++)
		if ((from & 1U << i) != 0)
			buf_printf(&b, "%s%s",
			    b.len > 0 ? ", of other sources from " : "",
			    step_from_reason((enum step_from)i));
	table_note(
	    t, "no step markers: steps inferred from %.*s", (int)b.len, b.p);
	buf_free(&b);
}

void
note_runs(struct table *t, struct str module)
{
	table_note(t,
	    "no step annotations: steps are runs of %.*s, the module with most "
	    "GPU time",
	    (int)module.len, module.p);
}

void
note_unlinked(struct table *t, const struct sink_sources *g, const char *what)
{
	const struct sink_source sum = sink_sources_sum(g);

	if (sum.nunlinked > 0)
		table_note(t,
		    "%" PRIu64 " of %" PRIu64
		    " GPU events %s no launch in the trace and no %s",
		    sum.nunlinked, sum.ngpu, HAVE(sum.nunlinked), what);
}
