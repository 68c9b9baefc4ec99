/* SPDX-License-Identifier: MIT */
/*
 * Ranges that programs mark (NVTX, roctx). PyTorch's emit_nvtx marks each op by
 * a text: its name and, as far as it knows them,
 *
 *	, seq = 7, op_id = 43, sizes = [[8, 16], []], input_op_ids = [(42,0)]
 */
#include "cmd/tl-decode/sqlite/db.h"

#include "stream/from-json.h"

enum { MARK_SEQ, MARK_STASHED, MARK_OP_ID, MARK_SIZES, MARK_INPUTS, MARK_N };

static const struct mark {
	struct str word;
	struct str key; /* the argument's */
	bool is_list;
} marks[] = {
	[MARK_SEQ] = { STR_INIT("seq"), STR_INIT("Sequence number"), false },
	[MARK_STASHED] = { STR_INIT("stashed seq"), STR_INIT("stashed seq"),
	    false },
	[MARK_OP_ID] = { STR_INIT("op_id"), STR_INIT("op_id"), false },
	[MARK_SIZES] = { STR_INIT("sizes"), STR_INIT("Input Dims"), true },
	[MARK_INPUTS] = { STR_INIT("input_op_ids"), STR_INIT("input_op_ids"),
	    true },
};

static struct str
behind(struct str s, size_t n)
{
	return (struct str){ s.p + n, s.len - n };
}

static struct str
trim(struct str s)
{
	while (s.len > 0 && s.p[0] == ' ')
		s = behind(s, 1);
	while (s.len > 0 && s.p[s.len - 1] == ' ')
		s.len--;
	return s;
}

static bool
is_json(struct buf *json)
{
	struct buf scratch = { 0 };
	struct json j;
	struct value v;
	bool is;

	buf_room(json, IN_PAD);
	memset(json->p + json->len, 0, IN_PAD);
	is = value_of_text(&j, buf_str(json), 2, &scratch, &v);
	buf_free(&scratch);
	return is;
}

/* A list of lists of integers as JSON; tuples are lists. */
static bool
list_of(struct str s, struct buf *json)
{
	int depth = 0;

	json->len = 0;
	for (size_t i = 0; i < s.len; i++) {
		bool is_open = s.p[i] == '[' || s.p[i] == '(';
		bool is_close = s.p[i] == ']' || s.p[i] == ')';

		depth += is_open - is_close;
		if (depth < 0 || (depth == 0 && i + 1 < s.len) ||
		    (!is_open && !is_close &&
			strchr("0123456789-, ", s.p[i]) == NULL))
			return false;
		if (s.p[i] != ' ')
			buf_putc(json, is_open ? '[' : is_close ? ']' : s.p[i]);
	}
	return s.len > 0 && depth == 0 && is_json(json);
}

/* Cuts the last ", WORD = VALUE" off the text; returns the value. */
static bool
cut_last(struct str *text, struct str word, struct str *value)
{
	for (size_t i = text->len; i-- > 0;) {
		struct str s = behind(*text, i);

		if (!str_starts(s, STR(", ")) ||
		    !str_starts(behind(s, 2), word))
			continue;
		s = trim(behind(s, 2 + word.len));
		if (s.len == 0 || s.p[0] != '=')
			return false;
		*value = trim(behind(s, 1));
		text->len = i;
		return true;
	}
	return false;
}

/* Moves what follows an op's name to values; false: nothing. */
static bool
take_marks(struct str *text, struct str values[MARK_N])
{
	bool is_found = false, again = true;

	while (again) {
		again = false;
		for (int m = MARK_N; m-- > 0;) {
			struct str rest = *text, value;
			struct buf json = { 0 };
			int64_t i;

			if (values[m].len > 0 ||
			    !cut_last(&rest, marks[m].word, &value))
				continue;
			if (marks[m].is_list ? list_of(value, &json)
					     : num_i64(value, &i)) {
				values[m] = value;
				*text = rest;
				is_found = again = true;
			}
			buf_free(&json);
		}
	}
	return is_found;
}

/* word::word, an op's name. */
static bool
is_op_name(struct str s)
{
	bool has_colons = false;
	size_t word = 0; /* length so far */

	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (c == ':' && word > 0 && i + 1 < s.len &&
		    s.p[i + 1] == ':') {
			has_colons = true;
			word = 0;
			i++;
		} else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '_' || c == '.') {
			word++;
		} else {
			return false;
		}
	}
	return has_colons && word > 0;
}

void
marker_begin(struct db *db, struct str cat, struct str text)
{
	struct str values[MARK_N] = { { NULL, 0 } };
	struct buf json = { 0 };
	bool is_op = take_marks(&text, values) || is_op_name(text);
	int64_t i;

	db_begin(db, is_op ? KIND_OP : KIND_ANNOTATION,
	    is_op ? STR("cpu_op") : cat, text);
	for (int m = 0; m < MARK_N; m++) {
		if (values[m].len == 0)
			continue;
		if (!marks[m].is_list && num_i64(values[m], &i))
			maker_int(&db->maker, marks[m].key, i, ROLE_NONE);
		else if (list_of(values[m], &json))
			maker_json(&db->maker, marks[m].key, buf_str(&json));
	}
	buf_free(&json);
}
