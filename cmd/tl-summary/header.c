/* SPDX-License-Identifier: MIT */
/* What the traces say of themselves, as tl-cat --header --ndjson prints it. */
#include "json/json.h"

#include "cmd/tl-summary/summary.h"

/* Facts of one source. */
struct facts {
	struct figures *f;
	struct str name, device, rank, world; /* numbers as text */
	struct str rank_from;
	bool is_final;
};

static struct str
text_of(struct figures *f, const struct json *j)
{
	struct buf b = { 0 };
	struct str s = j->raw;
	const char *error;
	size_t at;

	if (j->escaped && json_unescape(j->raw, &b, &error, &at))
		s = buf_str(&b);
	s = figures_text(f, s);
	buf_free(&b);
	return s;
}

/* A list of devices has the host's processors, too. */
static bool
is_processor(struct str name)
{
	static const char *const words[] = { "Processor", "CPU", "EPYC",
		"Xeon" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_find(name, str_of(words[i]), false) >= 0)
			return true;
	return false;
}

/* At the list: the first name of a GPU. False when the text is bad. */
static bool
read_devices(struct json *j, struct facts *facts)
{
	enum json_token t = json_next(j);
	unsigned depth = 1;
	bool is_name = false;

	if (t != JSON_T_ARRAY)
		return t == JSON_T_STRING || t == JSON_T_NULL;
	while (depth > 0) {
		t = json_next(j);
		if (t <= JSON_T_END)
			return false;
		if (t == JSON_T_OBJECT || t == JSON_T_ARRAY)
			depth++;
		if (t == JSON_T_OBJECT_END || t == JSON_T_ARRAY_END)
			depth--;
		if (t == JSON_T_STRING && is_name && depth == 2 &&
		    facts->device.len == 0) {
			struct str s = text_of(facts->f, j);

			facts->device = is_processor(s) ? STR("") : s;
		}
		is_name = t == JSON_T_KEY && str_eq(j->raw, STR("name"));
	}
	return true;
}

static bool
read_value(struct json *j, struct facts *facts, struct str *to)
{
	enum json_token t = json_next(j);

	if (t == JSON_T_STRING || t == JSON_T_NUMBER)
		*to = text_of(facts->f, j);
	else if (t == JSON_T_OBJECT || t == JSON_T_ARRAY)
		return json_skip(j) == JSON_OK;
	return t > JSON_T_END;
}

static bool
read_facts(struct json *j, struct facts *facts)
{
	enum json_token t;
	bool good = json_next(j) == JSON_T_OBJECT;

	while (good && (t = json_next(j)) == JSON_T_KEY) {
		if (str_eq(j->raw, STR("name")))
			good = read_value(j, facts, &facts->name);
		else if (str_eq(j->raw, STR("rank")))
			good = read_value(j, facts, &facts->rank);
		else if (str_eq(j->raw, STR("rank_from")))
			good = read_value(j, facts, &facts->rank_from);
		else if (str_eq(j->raw, STR("world_size")))
			good = read_value(j, facts, &facts->world);
		else if (str_eq(j->raw, STR("devices")))
			good = read_devices(j, facts);
		else
			good = json_skip(j) == JSON_OK;
	}
	return good && t == JSON_T_OBJECT_END;
}

static bool
read_source(struct json *j, struct facts *facts)
{
	enum json_token t;
	bool good = json_next(j) == JSON_T_OBJECT;

	while (good && (t = json_next(j)) == JSON_T_KEY) {
		if (str_eq(j->raw, STR("final")))
			facts->is_final = json_next(j) == JSON_T_TRUE;
		else if (str_eq(j->raw, STR("facts")))
			good = read_facts(j, facts);
		else
			good = json_skip(j) == JSON_OK;
	}
	return good && t == JSON_T_OBJECT_END;
}

/* One line's object; members that are no source are passed over. */
static bool
read_line(struct json *j, struct facts *facts)
{
	enum json_token t;
	bool good = json_next(j) == JSON_T_OBJECT;

	while (good && (t = json_next(j)) == JSON_T_KEY)
		good = str_eq(j->raw, STR("source")) ? read_source(j, facts)
						     : json_skip(j) == JSON_OK;
	return good && t == JSON_T_OBJECT_END;
}

static void
take(struct figures *f, const struct facts *facts)
{
	if (!facts->is_final)
		return;
	f->nsources++;
	if (f->nsources > 1 && !str_eq(f->device, facts->device))
		f->devices_differ = true;
	f->device = facts->device;
	f->name = facts->name;
	f->has_rank = num_i64(facts->rank, &f->rank);
	f->nknown += f->has_rank;
	/* that it was the first one read is nothing to tell */
	f->has_rank = f->has_rank && !str_eq(facts->rank_from, STR("order"));
	f->has_world = num_i64(facts->world, &f->world);
}

void
header_read(struct figures *f, const char *path)
{
	struct in *in = in_open(path);
	static struct json j; /* its stack is large */
	uint64_t line = 1;

	while (in_need(in, 1)) {
		struct facts facts = { .f = f };
		const unsigned char *nl;

		while ((nl = memchr(in->p, '\n', (size_t)(in->end - in->p))) ==
			NULL &&
		    in_more(in))
			;
		if (nl == NULL)
			die("%s: line %" PRIu64 ": it was cut off", path, line);
		json_start(&j, in->p, (size_t)(in->end - in->p));
		j.eof = in->eof;
		if (!read_line(&j, &facts) || j.p != nl)
			die("%s: line %" PRIu64 ": no header of a stream", path,
			    line);
		take(f, &facts);
		in->p = nl + 1;
		line++;
	}
	in_close(in);
}

void
header_read_against(struct figures *f, const char *path)
{
	struct figures other = { .text = f->text };

	header_read(&other, path);
	if (!other.devices_differ)
		f->against_device = other.device;
}
