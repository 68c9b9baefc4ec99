/* SPDX-License-Identifier: MIT */
#include "trace/cause.h"
#include "base/embedded.h"
#include "json/json.h"

extern const struct embedded trace_data[];
extern const size_t trace_ndata;

#define FILE_MAX_BYTES (4u << 20)
#define PATTERNS_MAX 100000

const char *const cause_words[CAUSE_COUNT] = {
#define X(id, word, group, advice) word,
	EACH_CAUSE(X)
#undef X
};
const char *const cause_advice[CAUSE_COUNT] = {
#define X(id, word, group, advice) advice,
	EACH_CAUSE(X)
#undef X
};
const uint8_t cause_groups[CAUSE_COUNT] = {
#define X(id, word, group, advice) GROUP_OF_##group,
	EACH_CAUSE(X)
#undef X
};
const uint8_t cause_above[CAUSE_ABOVE_COUNT] = { CAUSE_GC, CAUSE_PROFILER,
	CAUSE_COMPILE, CAUSE_DATA, CAUSE_IO, CAUSE_OPTIMIZER, CAUSE_COMM_HOST };

enum subject { OF_CALL, OF_ABOVE, OF_SELF, OF_OP, OF_PYTHON, ABOUT_COUNT };
static const char *const about_words[] = { "call", "above", "self", "op",
	"python", NULL };

/* Which pairs of bytes a text has, by a hash of them. */
struct pairs {
	uint64_t bits[4];
};

/* A shell pattern, and the pairs of the longest text that stands in all that is
 * like it. */
struct pattern {
	struct str glob;
	struct pairs pairs;
};
typedef VEC(struct pattern) patterns;

struct rule {
	uint8_t cause, about;
	patterns like, unless;
};

struct causes {
	VEC(struct rule) rules; /* the first that fits counts */
	VEC(struct cause_name) names;
	struct arena *mem;
	size_t npatterns;
};

/* ---- rules ---- */

static struct pairs
pairs_of(struct str s)
{
	struct pairs p = { { 0 } };

	for (size_t i = 1; i < s.len; i++) {
		unsigned h = (unsigned char)s.p[i - 1] * 31u +
		    (unsigned char)s.p[i] * 7u;

		p.bits[h >> 6 & 3] |= UINT64_C(1) << (h & 63);
	}
	return p;
}

static bool
has_pairs(const struct pairs *all, const struct pairs *p)
{
	return ((p->bits[0] & ~all->bits[0]) | (p->bits[1] & ~all->bits[1]) |
		   (p->bits[2] & ~all->bits[2]) |
		   (p->bits[3] & ~all->bits[3])) == 0;
}

static bool
any_fits(const patterns *p, struct str name, const struct pairs *pairs)
{
	for (size_t i = 0; i < p->n; i++)
		if (has_pairs(pairs, &p->v[i].pairs) &&
		    str_glob(p->v[i].glob, name))
			return true;
	return false;
}

static bool
fits(const struct rule *r, struct str name, const struct pairs *pairs)
{
	return any_fits(&r->like, name, pairs) &&
	    !any_fits(&r->unless, name, pairs);
}

static unsigned
above_bit(enum cause cause)
{
	for (unsigned i = 0; i < CAUSE_ABOVE_COUNT; i++)
		if (cause_above[i] == cause)
			return 1u << i;
	return 0;
}

/* Rules that can be about a name of an event of this kind. */
static bool
is_about(const struct rule *r, bool is_call)
{
	return r->about == OF_ABOVE || (r->about == OF_CALL) == is_call;
}

static void
look_up(
    const struct causes *c, struct str name, bool is_call, struct cause_name *n)
{
	uint8_t *const of[ABOUT_COUNT] = { [OF_CALL] = &n->call,
		[OF_SELF] = &n->self,
		[OF_OP] = &n->op,
		[OF_PYTHON] = &n->python };
	const struct pairs pairs = pairs_of(name);

	for (size_t i = 0; i < c->rules.n; i++) {
		const struct rule *r = &c->rules.v[i];
		unsigned bit = r->about == OF_ABOVE ? above_bit(r->cause) : 0;

		if (!is_about(r, is_call))
			continue;
		if (r->about == OF_ABOVE ? (n->above & bit) != 0
					 : *of[r->about] != CAUSE_NOTHING)
			continue;
		if (!fits(r, name, &pairs))
			continue;
		if (r->about == OF_ABOVE)
			n->above |= (uint8_t)bit;
		else
			*of[r->about] = r->cause;
	}
}

/* Not inline: most names have been seen. */
static __attribute__((noinline)) const struct cause_name *
look_up_new(
    struct causes *c, const struct dict *st, uint32_t name, bool is_call)
{
	while (c->names.n <= name)
		vec_push(&c->names, ((struct cause_name){ 0 }));
	look_up(c, dict_get(st, name), is_call, &c->names.v[name]);
	c->names.v[name].known |= is_call ? 2 : 1;
	return &c->names.v[name];
}

/* Short, as it is asked for each event. */
const struct cause_name *
cause_of_name(
    struct causes *c, const struct dict *st, uint32_t name, bool is_call)
{
	if (LIKELY(name < c->names.n &&
		(c->names.v[name].known & (is_call ? 2 : 1)) != 0))
		return &c->names.v[name];
	return look_up_new(c, st, name, is_call);
}

void
causes_clear(struct causes *c)
{
	c->names.n = 0;
}

/* ---- reading ---- */

struct reader {
	struct causes *c;
	struct json *j;
	const char *file;
};

static noreturn void
bad(const struct reader *r, const char *why)
{
	die("%s: %s", r->file, why);
}

/* The comma or brace that ends an alternative which begins at i. */
static size_t
alternative_end(struct str s, size_t i)
{
	for (int depth = 0; i < s.len; i++) {
		if (s.p[i] == '{')
			depth++;
		else if (depth == 0 && (s.p[i] == ',' || s.p[i] == '}'))
			break;
		else if (s.p[i] == '}')
			depth--;
	}
	return i;
}

/* The longest part of a pattern without anything that stands for others. */
static struct str
plain_of(struct str s)
{
	struct str best = { s.p, 0 };

	for (size_t i = 0; i < s.len; i++) {
		size_t from = i;

		while (i < s.len && strchr("*?[", s.p[i]) == NULL)
			i++;
		if (i - from > best.len)
			best = (struct str){ s.p + from, i - from };
		if (i < s.len && s.p[i] == '[')
			while (i + 1 < s.len && s.p[i] != ']')
				i++;
	}
	return best;
}

/* Adds what a pattern stands for, its first braces written out. */
static void
add_pattern(const struct reader *r, patterns *to, struct str s)
{
	const char *open = memchr(s.p, '{', s.len);
	struct buf b = { 0 };
	size_t at, close;

	if (++r->c->npatterns > PATTERNS_MAX)
		bad(r, "too many patterns");
	if (open == NULL) {
		s = arena_str(r->c->mem, s);
		vec_push(to, ((struct pattern){ s, pairs_of(plain_of(s)) }));
		return;
	}
	for (close = (size_t)(open - s.p) + 1;
	     (close = alternative_end(s, close)) < s.len && s.p[close] == ',';)
		close++;
	if (close == s.len)
		bad(r, "a pattern lacks a }");
	for (at = (size_t)(open - s.p) + 1; at <= close;) {
		size_t end = alternative_end(s, at);

		b.len = 0;
		buf_put(&b, s.p, (size_t)(open - s.p));
		buf_put(&b, s.p + at, end - at);
		buf_put(&b, s.p + close + 1, s.len - close - 1);
		add_pattern(r, to, buf_str(&b));
		at = end + 1;
	}
	buf_free(&b);
}

static struct str
text(const struct reader *r)
{
	if (json_next(r->j) != JSON_T_STRING || r->j->escaped)
		bad(r, "a plain text is missing");
	return r->j->raw;
}

static void
list(const struct reader *r, patterns *to, bool is_pattern)
{
	enum json_token t;

	if (json_next(r->j) != JSON_T_ARRAY)
		bad(r, "a list of texts is missing");
	while ((t = json_next(r->j)) == JSON_T_STRING && !r->j->escaped)
		if (is_pattern)
			add_pattern(r, to, r->j->raw);
		else
			vec_push(to,
			    ((struct pattern){
				.glob = arena_str(r->c->mem, r->j->raw) }));
	if (t != JSON_T_ARRAY_END)
		bad(r, "a list holds something else than plain texts");
}

static uint8_t
word(const struct reader *r, const char *const *words, size_t n,
    const char *what)
{
	struct str s = text(r);

	for (size_t i = 0; i < n; i++)
		if (str_eq(s, str_of(words[i])))
			return (uint8_t)i;
	die("%s: no %s is called '%.*s'", r->file, what, (int)s.len, s.p);
}

static struct rule
read_rule(const struct reader *r)
{
	struct rule rule = { .about = ABOUT_COUNT };
	patterns examples = { 0 };
	enum json_token t;

	while ((t = json_next(r->j)) == JSON_T_KEY) {
		struct str key = r->j->raw;

		if (str_eq(key, STR("cause")))
			rule.cause = word(r, cause_words, CAUSE_COUNT, "cause");
		else if (str_eq(key, STR("of")))
			rule.about = word(r, about_words, ABOUT_COUNT, "'of'");
		else if (str_eq(key, STR("like")))
			list(r, &rule.like, true);
		else if (str_eq(key, STR("unless")))
			list(r, &rule.unless, true);
		else if (str_eq(key, STR("examples")))
			list(r, &examples, false);
		else
			die("%s: no member is called '%.*s'", r->file,
			    (int)key.len, key.p);
	}
	if (t != JSON_T_OBJECT_END || rule.about == ABOUT_COUNT ||
	    rule.cause == CAUSE_NOTHING || rule.like.n == 0)
		bad(r, "a rule needs \"cause\", \"of\" and \"like\"");
	if (rule.about == OF_ABOVE && above_bit(rule.cause) == 0)
		die("%s: %s can't be \"of\": \"above\"", r->file,
		    cause_words[rule.cause]);
	for (size_t i = 0; i < examples.n; i++) {
		const struct pairs pairs = pairs_of(examples.v[i].glob);

		if (!fits(&rule, examples.v[i].glob, &pairs))
			die("%s: the rule of %s does not fit its example '%s'",
			    r->file, cause_words[rule.cause],
			    examples.v[i].glob.p);
	}
	vec_free(&examples);
	return rule;
}

/* bytes have IN_PAD zeros behind them. */
static void
read_rules(struct causes *c, const char *file, const void *bytes, size_t len)
{
	struct json *j = xmalloc(sizeof *j);
	struct reader r = { c, j, file };
	VEC(struct rule) rules = { 0 };
	enum json_token t;

	json_start(j, bytes, len);
	if (json_next(j) != JSON_T_ARRAY)
		bad(&r, "not a list of rules");
	while ((t = json_next(j)) == JSON_T_OBJECT)
		vec_push(&rules, read_rule(&r));
	if (t != JSON_T_ARRAY_END || json_next(j) != JSON_T_END)
		bad(&r, "malformed JSON");
	for (size_t i = 0; i < c->rules.n; i++) /* later files come first */
		vec_push(&rules, c->rules.v[i]);
	vec_free(&c->rules);
	for (size_t i = 0; i < rules.n; i++)
		vec_push(&c->rules, rules.v[i]);
	vec_free(&rules);
	vec_release(j);
}

void
causes_load(struct causes *c, const char *path)
{
	struct in *in = in_open(path);

	while (in_more(in))
		if ((size_t)(in->end - in->p) > FILE_MAX_BYTES)
			die("%s: too long for a file of causes", path);
	read_rules(c, path, in->p, (size_t)(in->end - in->p));
	in_close(in);
	causes_clear(c);
}

struct causes *
causes_create(void)
{
	struct causes *c = xcalloc(1, sizeof *c);

	c->mem = arena_create();
	for (size_t i = 0; i < trace_ndata; i++)
		read_rules(c, trace_data[i].name, trace_data[i].bytes,
		    trace_data[i].len);
	return c;
}

void
causes_destroy(struct causes *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->rules.n; i++) {
		vec_free(&c->rules.v[i].like);
		vec_free(&c->rules.v[i].unless);
	}
	vec_free(&c->rules);
	vec_free(&c->names);
	arena_destroy(c->mem);
	vec_release(c);
}
