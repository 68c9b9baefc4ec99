/* SPDX-License-Identifier: MIT */
/*
 * Rules and libraries: a JSON list of objects. The example of a rule, a row and
 * its text, is checked when read. See RULES in tl-advise(1).
 */
#include "base/embedded.h"

#include "cmd/tl-advise/advise.h"

extern const struct embedded tl_advise_data[];
extern const size_t tl_advise_ndata;

#define FILE_MAX_BYTES (4u << 20)

struct reading {
	struct rules *rules;
	struct str name; /* the current rule's */
	struct buf *why; /* what is wrong */
};

/* Sets why, returns false. */
static bool
refuse(const struct reading *g, const char *what, struct str text)
{
	buf_printf(g->why, "rule '%.*s': %s%s%.*s",
	    (int)(g->name.len < 100 ? g->name.len : 100), g->name.p, what,
	    text.len > 0 ? ": " : "", (int)(text.len < 300 ? text.len : 300),
	    text.p);
	return false;
}

/* ---- conditions ---- */

/* "there", "missing", ">= 5", "a*|b", "!a". */
static bool
read_condition(const struct reading *g, struct condition *c, struct str text)
{
	static const struct {
		struct str begin;
		enum test test;
	} tests[] = { { STR_INIT(">="), TEST_AT_LEAST },
		{ STR_INIT("<="), TEST_AT_MOST }, { STR_INIT(">"), TEST_MORE },
		{ STR_INIT("<"), TEST_LESS } };

	if (str_eq(text, STR("there")) || str_eq(text, STR("missing"))) {
		c->test =
		    str_eq(text, STR("there")) ? TEST_THERE : TEST_MISSING;
		return true;
	}
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		if (!str_take(&text, tests[i].begin))
			continue;
		while (text.len > 0 && *text.p == ' ')
			(void)str_take(&text, STR(" "));
		c->test = tests[i].test;
		return num_double(text, &c->number) ||
		    refuse(g, "no number", text);
	}
	c->test = str_take(&text, STR("!")) ? TEST_UNLIKE : TEST_LIKE;
	c->like = arena_str(g->rules->mem, text);
	return true;
}

static bool
read_when(const struct reading *g, struct rule *r, struct str text)
{
	json_items items = { 0 };
	bool is_good = json_split(&items, g->rules->mem, text) ||
	    refuse(g, "\"when\" is no object", text);

	for (size_t i = 0; is_good && i + 1 < items.n; i += 2) {
		struct condition *c = vec_add(&r->when);

		*c = (struct condition){ .id = items.v[i].text };
		is_good = read_condition(g, c, items.v[i + 1].text);
	}
	vec_free(&items);
	return is_good;
}

/* ---- members ---- */

static bool
read_factors(const struct reading *g, struct rule *r, struct str text)
{
	json_items items = { 0 };
	bool is_good =
	    json_split(&items, g->rules->mem, text) && items.n == GAINS;

	for (size_t i = 0; is_good && i < GAINS; i++)
		is_good = num_double(items.v[i].text, &r->factors[i]) &&
		    r->factors[i] >= 0 && r->factors[i] <= 1 &&
		    (i == 0 || r->factors[i] >= r->factors[i - 1]);
	vec_free(&items);
	return is_good ||
	    refuse(
		g, "\"factors\" are three numbers from 0 to 1, rising", text);
}

static bool
read_member(const struct reading *g, struct rule *r, struct str key,
    const struct json_item *value)
{
	static const struct {
		struct str key;
		size_t at;
	} texts[] = {
		{ STR_INIT("rule"), offsetof(struct rule, name) },
		{ STR_INIT("table"), offsetof(struct rule, table) },
		{ STR_INIT("section"), offsetof(struct rule, section) },
		{ STR_INIT("category"), offsetof(struct rule, category) },
		{ STR_INIT("insight"), offsetof(struct rule, insight) },
		{ STR_INIT("action"), offsetof(struct rule, action) },
		{ STR_INIT("confidence"), offsetof(struct rule, confidence) },
		{ STR_INIT("claims"), offsetof(struct rule, claims) },
		{ STR_INIT("uid"), offsetof(struct rule, uid) },
		{ STR_INIT("gain"), offsetof(struct rule, gain) },
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (str_eq(key, texts[i].key)) {
			*(struct str *)(void *)((char *)r + texts[i].at) =
			    value->text;
			return value->type == JSON_T_STRING ||
			    refuse(g, "no text", key);
		}
	if (str_eq(key, STR("when")))
		return read_when(g, r, value->text);
	if (str_eq(key, STR("factors")))
		return read_factors(g, r, value->text);
	if (str_eq(key, STR("least_percent")))
		return num_double(value->text, &r->least) ||
		    refuse(g, "no number", value->text);
	r->also |= str_eq(key, STR("also")) && str_eq(value->text, STR("true"));
	return str_eq(key, STR("also")) || str_eq(key, STR("example")) ||
	    refuse(g, "no member is called so", key);
}

/* ---- examples ---- */

static struct cell
cell_of(const struct json_item *x)
{
	int64_t n;
	double v;

	switch (x->type) {
	case JSON_T_STRING: return cell_text(x->text);
	case JSON_T_TRUE: return cell_bool(true);
	case JSON_T_FALSE: return cell_bool(false);
	case JSON_T_NULL: return cell_none();
	default: break;
	}
	if (num_i64(x->text, &n))
		return cell_int(n);
	return num_double(x->text, &v) ? cell_real(v) : cell_none();
}

static bool
read_facts(const struct reading *g, struct facts *f, struct str text)
{
	json_items items = { 0 };
	bool is_good = json_split(&items, g->rules->mem, text) ||
	    refuse(g, "the example has no \"row\"", STR(""));

	for (size_t i = 0; is_good && i + 1 < items.n; i += 2)
		vec_push(&f->list,
		    ((struct field){
			items.v[i].text, cell_of(&items.v[i + 1]) }));
	vec_free(&items);
	return is_good;
}

static bool
check_gains(const struct reading *g, const struct rule *r,
    const struct facts *f, struct str text)
{
	int64_t gain_ns[GAINS];
	struct buf b = { 0 };
	bool is_good;

	rule_gains(r, f, gain_ns);
	buf_printf(&b, "[%" PRId64 ", %" PRId64 ", %" PRId64 "]", gain_ns[LOW],
	    gain_ns[MID], gain_ns[HIGH]);
	is_good = str_eq(buf_str(&b), text) ||
	    refuse(g, "the gains of its example are", buf_str(&b));
	buf_free(&b);
	return is_good;
}

static bool
check_says(const struct reading *g, const struct rule *r, const struct facts *f,
    struct str text)
{
	struct buf said = { 0 }, action = { 0 };
	bool is_whole = rule_say(&said, r->insight, f);
	bool is_good;

	is_whole &= rule_say(&action, r->action, f);
	is_good = is_whole
	    ? str_eq(buf_str(&said), text) ||
		refuse(g, "of its example it says", buf_str(&said))
	    : refuse(g, "its example lacks a column of its texts", STR(""));
	buf_free(&said);
	buf_free(&action);
	return is_good;
}

static bool
check_example(const struct reading *g, const struct rule *r, struct str text)
{
	json_items items = { 0 };
	struct facts f = { .table = r->table };
	bool is_good = json_split(&items, g->rules->mem, text) ||
	    refuse(g, "it has no \"example\"", STR(""));

	is_good = is_good &&
	    read_facts(g, &f, json_member_text(&items, STR("row"))) &&
	    (rule_fits(r, &f) ||
		refuse(g, "its example does not fit", STR(""))) &&
	    check_says(g, r, &f, json_member_text(&items, STR("says"))) &&
	    (r->gain.len == 0 ||
		check_gains(
		    g, r, &f, json_member_text(&items, STR("gain_ns"))));
	vec_free(&f.list);
	vec_free(&items);
	return is_good;
}

/* ---- files ---- */

static bool
read_rule(struct reading *g, const json_items *items)
{
	struct rule *r = vec_add(&g->rules->list);
	bool is_good = true;

	*r = (struct rule){ .factors = { 0.75, 0.875, 1 } };
	g->name = json_member_text(items, STR("rule"));
	for (size_t i = 0; is_good && i + 1 < items->n; i += 2)
		is_good = read_member(g, r, items->v[i].text, &items->v[i + 1]);
	if (is_good &&
	    (r->table.len == 0 || r->section.len == 0 || r->insight.len == 0 ||
		r->action.len == 0))
		return refuse(g,
		    "it needs \"table\", \"section\", \"insight\", "
		    "\"action\"",
		    STR(""));
	return is_good &&
	    check_example(g, r, json_member_text(items, STR("example")));
}

static bool
read_library(struct reading *g, const json_items *items)
{
	struct library *l = vec_add(&g->rules->libraries);
	json_items like = { 0 };
	bool is_good;

	*l = (struct library){
		.name = json_member_text(items, STR("library")),
		.of_op = str_eq(json_member_text(items, STR("of")), STR("op")),
	};
	g->name = l->name;
	is_good = json_split(&like, g->rules->mem,
		      json_member_text(items, STR("like"))) ||
	    refuse(g, "\"like\" is no list", STR(""));
	for (size_t i = 0; is_good && i < like.n; i++)
		vec_push(&l->like, like.v[i].text);
	vec_free(&like);
	return is_good;
}

bool
rules_read(struct rules *r, struct str text, struct buf *why)
{
	struct reading g = { .rules = r, .why = why };
	json_items list = { 0 }, items = { 0 };
	bool is_good;

	r->mem = r->mem != NULL ? r->mem : arena_create();
	is_good = text.len > 0 && json_split(&list, r->mem, text);
	for (size_t i = 0; is_good && i < list.n; i++) {
		is_good = list.v[i].type == JSON_T_OBJECT &&
		    json_split(&items, r->mem, list.v[i].text);
		if (is_good)
			is_good = json_member(&items, STR("library")) != NULL
			    ? read_library(&g, &items)
			    : read_rule(&g, &items);
	}
	if (!is_good && why->len == 0)
		buf_puts(why, "no JSON list of rules");
	vec_free(&list);
	vec_free(&items);
	return is_good;
}

static void
read_or_die(struct rules *r, const char *file, struct str text)
{
	struct buf why = { 0 };

	if (!rules_read(r, text, &why))
		die("%s: %.*s", file, (int)why.len, why.p);
	buf_free(&why);
}

static void
read_file(struct rules *r, const char *path)
{
	struct in *in = in_open(path);

	while (in_more(in))
		if ((size_t)(in->end - in->p) > FILE_MAX_BYTES)
			die("%s: too long for a file of rules", path);
	read_or_die(r, path,
	    (struct str){ (const char *)in->p, (size_t)(in->end - in->p) });
	in_close(in);
}

void
rules_load(struct rules *r, char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		read_file(r, paths[i]);
	for (size_t i = 0; i < tl_advise_ndata; i++)
		read_or_die(r, tl_advise_data[i].name,
		    (struct str){ (const char *)tl_advise_data[i].bytes,
			tl_advise_data[i].len });
}

void
rules_free(struct rules *r)
{
	for (size_t i = 0; i < r->list.n; i++)
		vec_free(&r->list.v[i].when);
	for (size_t i = 0; i < r->libraries.n; i++)
		vec_free(&r->libraries.v[i].like);
	vec_free(&r->list);
	vec_free(&r->libraries);
	if (r->mem != NULL)
		arena_destroy(r->mem);
}
