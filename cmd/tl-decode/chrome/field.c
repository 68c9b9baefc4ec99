/* SPDX-License-Identifier: MIT */
/* Fixed fields in any form. */
#include "cmd/tl-decode/chrome/event.h"

/* Reads back the entry at the end of vals. */
static bool
read_back(
    const struct event_reader *r, size_t from, uint64_t code, struct value *v)
{
	const unsigned char *all = (const unsigned char *)r->vals.p;
	const unsigned char *p = all + from;

	return value_decode(
	    &p, all + r->vals.len, (enum value_type)code, r->src->dict, v);
}

/* Microseconds in any form, as ns. */
static bool
us_of_value(const struct value *v, int64_t *ns)
{
	struct dec d;
	bool exact;

	switch (v->type) {
	case VAL_INT: d = (struct dec){ v->i, 0 }; break;
	case VAL_DEC: d = v->dec; break;
	case VAL_NUM:
	case VAL_STR: return num_text_scale(v->s, 3, ns);
	default: return false;
	}
	return num_dec_scale(d, 3, ns, &exact);
}

/* A time other than a plain number of at most three decimals. */
static enum json_status
read_odd_time(struct event_reader *r, bool is_dur, int64_t *ns, uint64_t *code)
{
	size_t from = r->vals.len;
	enum json_status status = put_value(r, code);
	struct value v;

	if (status != JSON_OK)
		return status;
	if (!read_back(r, from, *code, &v) || !us_of_value(&v, ns) ||
	    !source_is_time(*ns)) {
		*ns = 0;
		*code |= CODE_OPAQUE;
		return JSON_OK;
	}
	*code |= CODE_RAW;
	if (is_dur && *ns < 0) {
		*ns = 0;
		*code |= CODE_CLAMPED;
		return JSON_OK;
	}
	*(is_dur ? &r->dur_fine : &r->ts_fine) = fine_of(&v);
	return JSON_OK;
}

/* Digits and at most three decimals: ns lose nothing. */
static bool
is_plain_time(struct str s, int64_t *ns)
{
	const char *point = memchr(s.p, '.', s.len);

	return (point == NULL || s.p + s.len - point <= 4) &&
	    memchr(s.p, 'e', s.len) == NULL &&
	    memchr(s.p, 'E', s.len) == NULL && num_text_scale(s, 3, ns);
}

static enum json_status
read_time(struct event_reader *r, bool is_dur, int64_t *ns, uint64_t *code)
{
	struct json *j = r->json;
	const unsigned char *start = j->p;
	struct json_num num;

	if ((json_is_digit(*start) || *start == '-') &&
	    json_number(j, &num) == JSON_OK && is_plain_time(num.text, ns) &&
	    source_is_time(*ns) && (!is_dur || *ns >= 0)) {
		*code = CODE_FIELD;
		return JSON_OK;
	}
	j->p = start;
	return read_odd_time(r, is_dur, ns, code);
}

static enum json_status
read_ph(struct event_reader *r, uint64_t *code)
{
	struct json *j = r->json;
	enum json_status status;

	if (LIKELY(j->p[0] == '"' && j->p[2] == '"' && j->p[1] > ' ' &&
		j->p[1] < 0x7f && j->p[1] != '\\' && j->p[1] != '"')) {
		*code = CODE_PH + j->p[1];
		j->p += 3;
		return JSON_OK;
	}
	if ((status = put_value(r, code)) == JSON_OK)
		*code |= CODE_OPAQUE;
	return status;
}

/* A string of any length for a fixed field. */
static enum json_status
read_text(struct event_reader *r, uint32_t *id, uint64_t *code)
{
	struct json *j = r->json;
	const unsigned char *start = j->p;
	enum json_status status;
	struct str raw;
	bool escaped;

	if (UNLIKELY(*start != '"')) {
		if ((status = put_value(r, code)) == JSON_OK)
			*code |= CODE_OPAQUE;
		return status;
	}
	if ((status = json_string(j, &raw, &escaped)) != JSON_OK)
		return status;
	*code = CODE_FIELD;
	if (LIKELY(!escaped))
		return intern_plain(r, raw, id);
	return intern_cooked(
	    r, (struct str){ (const char *)start, raw.len + 2 }, id);
}

static enum json_status
read_pid_tid(struct event_reader *r, bool *has, struct value *v, uint64_t *code)
{
	struct json *j = r->json;
	enum json_status status;
	size_t from = r->vals.len;
	struct json_num num;

	*code = CODE_FIELD | VAL_INT;
	*has = true;
	if (LIKELY((unsigned)(*j->p - '0') < 10)) {
		status = json_number(j, &num);
		if (LIKELY(status == JSON_OK && num.type == JSON_INT)) {
			v->type = VAL_INT;
			v->i = num.i;
			return JSON_OK;
		}
		if (status != JSON_OK)
			return status;
		j->p = (const unsigned char *)num.text.p;
	}
	if ((status = put_value(r, code)) != JSON_OK)
		return status;
	/* the track keeps it; inline text becomes a string */
	if (!read_back(r, from, *code, v))
		return json_fail(j, j->p, "expected a process or thread");
	if (v->type == VAL_STRX || v->type == VAL_JSONX) {
		v->id = intern_put(r->src->dict->text, v->s);
		v->type = v->type == VAL_STRX ? VAL_STR : VAL_JSON;
		v->s = dict_get(r->src->dict, v->id);
	}
	r->vals.len = from;
	*code = CODE_FIELD | v->type;
	return JSON_OK;
}

static enum json_status
read_cat(struct event_reader *r, uint64_t *code)
{
	uint32_t id;
	enum json_status status = read_text(r, &id, code);

	if (status == JSON_OK && *code == CODE_FIELD)
		*code = CODE_CAT + id;
	return status;
}

enum json_status
read_field(struct event_reader *r, const struct edge *e, uint64_t *code)
{
	enum json_status status;

	switch (e->field) {
	case FIELD_PH: return read_ph(r, code);
	case FIELD_CAT: return read_cat(r, code);
	case FIELD_NAME: return read_text(r, &r->name, code);
	case FIELD_PID:
		return read_pid_tid(
		    r, &r->track.has_pid, &r->track.raw_pid, code);
	case FIELD_TID:
		return read_pid_tid(
		    r, &r->track.has_tid, &r->track.raw_tid, code);
	case FIELD_TS: return read_time(r, false, &r->ts_ns, code);
	case FIELD_DUR: return read_time(r, true, &r->dur_ns, code);
	case FIELD_ARGS:
		if (LIKELY(*r->json->p == '{')) {
			r->json->p++;
			*code = CODE_ENTER;
			return JSON_OK;
		}
		status = put_value(r, code);
		*code |= CODE_OPAQUE;
		return status;
	default: return put_value(r, code);
	}
}

/* As text, which may have more digits than a decimal. */
static void
put_us(struct event_reader *r, int64_t ns)
{
	char text[NUM_DEC_MAX];
	struct str s = { text, num_put_dec(text, (struct dec){ ns, -3 }) };

	buf_varint(&r->vals, intern_put(r->src->dict->text, s));
}

/*
 * A repeated fixed field: its value so far becomes an entry, unless it was kept
 * as written and is one already. layout.c does the same.
 */
void
keep_repeated(struct event_reader *r, const struct node *n, enum field field)
{
	uint64_t code = code_before(n, field);
	char letter = (char)(code - CODE_PH);

	switch (field) {
	case FIELD_PH:
		if (code >= CODE_PH)
			buf_varint(&r->vals,
			    intern_put(r->src->dict->text,
				(struct str){ &letter, 1 }));
		break;
	case FIELD_CAT:
		if (code >= CODE_CAT)
			buf_varint(&r->vals, code - CODE_CAT);
		break;
	case FIELD_PID: value_encode(&r->vals, &r->track.raw_pid); break;
	case FIELD_TID: value_encode(&r->vals, &r->track.raw_tid); break;
	case FIELD_NAME:
		if (code == CODE_FIELD)
			buf_varint(&r->vals, r->name);
		r->name = INTERN_NONE;
		break;
	case FIELD_TS:
	case FIELD_DUR:
		if (code == CODE_FIELD)
			put_us(r, field == FIELD_TS ? r->ts_ns : r->dur_ns);
		*(field == FIELD_TS ? &r->ts_ns : &r->dur_ns) = 0;
		*(field == FIELD_TS ? &r->ts_fine : &r->dur_fine) = 0;
		break;
	default: break;
	}
}
