/* SPDX-License-Identifier: MIT */
/* uid_map: which event of one trace is which of the other. */
#include "cmd/tl-diff/tables.h"

const struct column uids_columns[] = {
	RUN_COLUMNS,
	{ "uid1", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "uid2", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "type", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "lca_id", NULL, COL_INT, UNIT_NONE, 0, 0 },
};
const size_t uids_ncolumns = sizeof uids_columns / sizeof *uids_columns;

static const char *const type_words[] = { "combined", "trace1", "trace2" };

void
uids_list(struct listing *l, const struct diff *d)
{
	for (uint32_t i = 0; i < d->merged.list.n; i++) {
		const struct merged_node *m = &d->merged.list.v[i];
		struct cell *row = listing_row(l);

		for (int s = 0; s < NSIDES; s++)
			if (m->orig[s] != NONE)
				row[s] = cell_int(
				    d->side[s]->nodes.v[m->orig[s]].id);
		row[2] = cell_text(str_of(type_words[merged_type(m)]));
		row[3] = cell_int(i);
	}
}

void
json_string(struct buf *b, struct str s)
{
	buf_putc(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == '"' || c == '\\')
			buf_putc(b, '\\');
		if (c == '\n')
			buf_puts(b, "\\n");
		else if (c == '\t')
			buf_puts(b, "\\t");
		else if (c == '\r')
			buf_puts(b, "\\r");
		else if (c < ' ')
			buf_printf(b, "\\u%04x", c);
		else
			buf_putc(b, (char)c);
	}
	buf_putc(b, '"');
}
