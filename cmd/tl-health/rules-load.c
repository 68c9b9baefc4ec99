/* SPDX-License-Identifier: MIT */
/* Reads a file of rules: sections of lines "KEY VALUE". */
#include "cmd/tl-health/rules.h"
#include "json/json.h"

#include <ctype.h>

#define RULES_MAX 1000
#define FILE_MAX_BYTES (1u << 20)

const char *const rule_level_words[] = {
	[RULE_NOTE] = "note",
	[RULE_WARNING] = "warning",
	[RULE_ERROR] = "error",
	[RULE_LEVELS] = NULL,
};

/* Longer ones first, as "<" is a prefix of "<=". */
const char *const rule_op_words[RULE_OPS] = {
	[RULE_LE] = "<=",
	[RULE_GE] = ">=",
	[RULE_LESS] = "<",
	[RULE_MORE] = ">",
	[RULE_UNLIKE] = "!=",
	[RULE_LIKE] = "=",
};

/* Programs that rules may ask: they read one trace and print tables. */
static const struct {
	const char *program;
	bool names_tables; /* takes --table */
} askable[] = {
	{ "tl-collective", true },
	{ "tl-critical", true },
	{ "tl-idle", true },
	{ "tl-kernels", true },
	{ "tl-launch", true },
	{ "tl-modules", false },
	{ "tl-ops", true },
	{ "tl-roofline", true },
	{ "tl-steps", true },
	{ "tl-timeline", true },
};
#define ASKABLE (sizeof askable / sizeof *askable)

void
rule_die(const struct site_rules *r, size_t line, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(r->mem, fmt, ap);
	va_end(ap);
	die_usage("%s: line %zu: %s", r->path, line, text);
}

/* ---- words ---- */

static struct str
trim(struct str s)
{
	while (s.len > 0 && isspace((unsigned char)s.p[0])) {
		s.p++;
		s.len--;
	}
	while (s.len > 0 && isspace((unsigned char)s.p[s.len - 1]))
		s.len--;
	return s;
}

/* Splits off the first word; the rest is trimmed. */
static struct str
take_word(struct str *s)
{
	struct str word = { s->p, 0 };

	while (word.len < s->len && !isspace((unsigned char)s->p[word.len]))
		word.len++;
	*s = trim((struct str){ s->p + word.len, s->len - word.len });
	return word;
}

/* ---- tests ---- */

static bool
is_column(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_' &&
		    s.p[i] != '/' && s.p[i] != '.')
			return false;
	return s.len > 0 && !isdigit((unsigned char)s.p[0]);
}

static void
take_number(struct rule_test *t, struct str s)
{
	int64_t ns;

	t->has_number = num_double(s, &t->number);
	if (!t->has_number && time_parse(s, &ns)) {
		t->has_number = t->is_time = true;
		t->number = (double)ns;
	}
}

/* NUMBER, COLUMN or NUMBER * COLUMN */
static bool
take_figure(struct rule_test *t, struct str s)
{
	struct str first = take_word(&s);

	if (s.len == 0 && is_column(first)) {
		t->other = first;
		t->number = 1;
		return true;
	}
	take_number(t, first);
	if (s.len == 0 || !t->has_number || t->is_time)
		return s.len == 0 && t->has_number;
	t->has_number = false;
	if (!str_eq(take_word(&s), STR("*")) || !is_column(s))
		return false;
	t->other = s;
	return true;
}

static struct rule_test
take_test(const struct site_rules *r, size_t line, struct str s, bool is_where)
{
	struct rule_test t = { .line = line, .op = RULE_OPS, .source = s };
	struct str op;

	t.column = take_word(&s);
	op = take_word(&s);
	for (int i = 0; i < RULE_OPS; i++)
		if (str_eq(op, str_of(rule_op_words[i])))
			t.op = (enum rule_op)i;
	if (!is_column(t.column) || t.op == RULE_OPS || s.len == 0)
		rule_die(r, line,
		    "expected COLUMN, one of <= >= < > != =, and a value, "
		    "each with a blank between");
	if (is_where && (t.op == RULE_LIKE || t.op == RULE_UNLIKE)) {
		t.like = s;
		take_number(&t, s);
	} else if (!take_figure(&t, s)) {
		rule_die(r, line,
		    "'%.*s' is no number, time, COLUMN or NUMBER * COLUMN",
		    (int)s.len, s.p);
	}
	return t;
}

/* ---- keys ---- */

static const struct opt selection[] = { OPT_SELECT, OPT_END };

/* Columns of rules about events. */
static const char *const event_columns[] = { "count", "dur_ns_sum",
	"dur_ns_max" };
#define EVENT_COLUMNS (sizeof event_columns / sizeof *event_columns)

static void
take_table(const struct site_rules *r, struct site_rule *rule, size_t line,
    struct str name)
{
	const struct sheet *s = sheet_find(name);
	size_t i = 0;

	if (s == NULL || (s->where & SHEET_FAMILIES) != 0)
		rule_die(r, line,
		    "no table '%.*s': tl(7) names the programs, "
		    "whose --list-tables lists theirs",
		    (int)name.len, name.p);
	while (i < ASKABLE &&
	    (s->program == NULL || strcmp(askable[i].program, s->program) != 0))
		i++;
	if (i == ASKABLE)
		rule_die(r, line, "table '%.*s' is not made of one trace",
		    (int)name.len, name.p);
	rule->sheet = s;
	if (askable[i].names_tables)
		vec_push(
		    &rule->words, arena_printf(r->mem, "--table=%s", s->name));
}

/* A key that is a selection option. */
static bool
take_selection(const struct site_rules *r, struct site_rule *rule, size_t line,
    struct str key, struct str value)
{
	struct optparse op = { .arg = arena_str(r->mem, value).p };
	const struct opt *o = selection;

	while (o->name != NULL && !str_eq(key, str_of(o->name)))
		o++;
	if (o->name == NULL)
		return false;
	if ((o->arg != NULL) != (value.len > 0))
		rule_die(r, line,
		    o->arg != NULL ? "'%s' needs a value"
				   : "'%s' takes no value",
		    o->name);
	op.name =
	    arena_printf(r->mem, "%s, %s: line %zu", o->name, r->path, line);
	(void)select_opt(&rule->select, &op, o->ch);
	vec_push(&rule->words,
	    o->arg != NULL ? arena_printf(r->mem, "--%s=%s", o->name, op.arg)
			   : arena_printf(r->mem, "--%s", o->name));
	return true;
}

static void
take_options(const struct site_rules *r, struct site_rule *rule, size_t line,
    struct str value)
{
	static const struct str own[] = { STR_INIT("-o"), STR_INIT("-d"),
		STR_INIT("-c"), STR_INIT("--output"), STR_INIT("--dir"),
		STR_INIT("--columns"), STR_INIT("--format"),
		STR_INIT("--status-fd") };

	while (value.len > 0) {
		struct str word = arena_str(r->mem, take_word(&value));

		/* reserved: a check writes no files and needs all columns */
		for (size_t i = 0; i < sizeof own / sizeof *own; i++)
			if (str_starts(word, own[i]))
				rule_die(r, line, "'%.*s' is not for rules",
				    (int)word.len, word.p);
		vec_push(&rule->words, word.p);
	}
}

static enum rule_level
level_of(const struct site_rules *r, size_t line, struct str word)
{
	for (int i = 0; i < RULE_LEVELS; i++)
		if (str_eq(word, str_of(rule_level_words[i])))
			return (enum rule_level)i;
	rule_die(r, line, "level is error, warning or note, not '%.*s'",
	    (int)word.len, word.p);
}

static void
take_line(struct site_rules *r, struct site_rule *rule, size_t line,
    struct str key, struct str value)
{
	bool is_about = rule->sheet != NULL || rule->select.kinds != 0;

	if (str_eq(key, STR("table")) || str_eq(key, STR("events"))) {
		if (is_about)
			rule_die(r, line,
			    "a rule is about one table, or about "
			    "events");
		if (str_eq(key, STR("table")))
			take_table(r, rule, line, value);
		else
			(void)take_selection(r, rule, line, STR("kind"), value);
		return;
	}
	if (!is_about)
		rule_die(r, line,
		    "a rule begins with 'table NAME' or 'events KIND,...'");
	if (str_eq(key, STR("require"))) {
		if (rule->require.line != 0)
			rule_die(r, line, "a rule has one 'require'");
		rule->require = take_test(r, line, value, false);
	} else if (str_eq(key, STR("say"))) {
		rule->text = value;
	} else if (str_eq(key, STR("level"))) {
		rule->level = level_of(r, line, value);
	} else if (str_eq(key, STR("where")) && rule->sheet != NULL) {
		vec_push(&rule->where, take_test(r, line, value, true));
	} else if (str_eq(key, STR("with")) && rule->sheet != NULL) {
		take_options(r, rule, line, value);
	} else if (str_eq(key, STR("under")) && rule->sheet == NULL) {
		rule->under = value;
	} else if (str_eq(key, STR("kind")) && rule->sheet == NULL) {
		rule_die(r, line, "kinds stand behind 'events'");
	} else if (!take_selection(r, rule, line, key, value)) {
		rule_die(r, line, "'%.*s' is no key of a rule about %s",
		    (int)key.len, key.p,
		    rule->sheet != NULL ? "a table" : "events");
	}
}

/* ---- rules ---- */

static void
check_rule(const struct site_rules *r, const struct site_rule *rule)
{
	struct str column = rule->require.column;
	size_t i = 0;

	if (rule->require.line == 0)
		rule_die(r, rule->line, "rule '%.*s' has no 'require'",
		    (int)rule->id.len, rule->id.p);
	if (rule->sheet != NULL)
		return;
	while (i < EVENT_COLUMNS && !str_eq(column, str_of(event_columns[i])))
		i++;
	if (i == EVENT_COLUMNS || !rule->require.has_number)
		rule_die(r, rule->require.line,
		    "of events count, dur_ns_sum or dur_ns_max is compared "
		    "with a number");
	if (rule->require.is_time && i == 0)
		rule_die(r, rule->require.line, "count is no time");
}

static void
begin_rule(struct site_rules *r, size_t line, struct str id)
{
	struct site_rule *rule;

	if (id.len == 0)
		rule_die(r, line, "a rule needs a name: [NAME]");
	for (size_t i = 0; i < r->list.n; i++)
		if (str_eq(r->list.v[i].id, id))
			rule_die(r, line, "rule '%.*s' is there already",
			    (int)id.len, id.p);
	if (r->list.n == RULES_MAX)
		rule_die(r, line, "more than %d rules", RULES_MAX);
	rule = vec_add(&r->list);
	*rule =
	    (struct site_rule){ .line = line, .id = id, .level = RULE_ERROR };
}

static void
take_text(struct site_rules *r, size_t line, struct str s)
{
	struct str key;

	if (s.len == 0 || s.p[0] == '#')
		return;
	if (s.p[0] == '[') {
		if (s.p[s.len - 1] != ']')
			rule_die(r, line, "expected ']' behind a rule's name");
		if (r->list.n > 0)
			check_rule(r, &r->list.v[r->list.n - 1]);
		begin_rule(r, line, trim((struct str){ s.p + 1, s.len - 2 }));
		return;
	}
	if (r->list.n == 0)
		rule_die(r, line, "a rule begins with its name: [NAME]");
	key = take_word(&s);
	take_line(r, &r->list.v[r->list.n - 1], line, key, s);
}

void
rules_parse(struct site_rules *r, struct str text)
{
	size_t line = 0, at;

	while (text.len > 0) {
		const char *end = memchr(text.p, '\n', text.len);
		struct str s = { text.p,
			end != NULL ? (size_t)(end - text.p) : text.len };
		size_t taken = s.len + (end != NULL);

		line++;
		if (!json_check_utf8(s, &at))
			rule_die(r, line, "bytes that are no UTF-8");
		take_text(r, line, trim(arena_str(r->mem, s)));
		text = (struct str){ text.p + taken, text.len - taken };
	}
	if (r->list.n == 0)
		rule_die(r, line > 0 ? line : 1, "no rule");
	check_rule(r, &r->list.v[r->list.n - 1]);
}

struct site_rules *
rules_load(const char *path)
{
	struct site_rules *r = xcalloc(1, sizeof *r);
	struct in *in = in_open(path);

	r->path = path;
	r->mem = arena_create();
	while (in_more(in))
		if ((size_t)(in->end - in->p) > FILE_MAX_BYTES)
			die("%s: too long for a file of rules", path);
	rules_parse(
	    r, (struct str){ (const char *)in->p, (size_t)(in->end - in->p) });
	in_close(in);
	return r;
}

void
rules_free(struct site_rules *r)
{
	for (size_t i = 0; r != NULL && i < r->list.n; i++) {
		vec_free(&r->list.v[i].words);
		vec_free(&r->list.v[i].where);
		select_free(&r->list.v[i].select);
	}
	if (r == NULL)
		return;
	vec_free(&r->list);
	arena_destroy(r->mem);
	vec_release(r);
}
