/* SPDX-License-Identifier: MIT */
#include "trace/cause.h"
#include "base/embedded.h"
#include "json/json.h"

extern const struct embedded trace_data[];
extern const size_t trace_ndata;

#define FILE_MAX_BYTES (4u << 20)
#define PATTERNS_MAX 10000 /* glob matching recurses so deep */
#define BRACES_MAX 64

_Static_assert(CAUSE_COUNT <= 64, "a set of causes is a word");

const char *const cause_words[CAUSE_COUNT] = {
#define X(id, word, group, advice) word,
	EACH_CAUSE(X)
#undef X
};
static const char *const advices[CAUSE_COUNT] = {
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

static const char *
advice_on_tpu(enum cause c)
{
	switch (c) {
	case CAUSE_PYTHON: return "move it off the launching thread";
	case CAUSE_OP:
	case CAUSE_LAUNCH_CALL:
	case CAUSE_LAUNCH_LATENCY:
		return "run more per program, or use a larger batch";
	case CAUSE_COPY_BLOCK: return "prefetch";
	case CAUSE_GPU_MISSING: return "record all TPU work";
	default: return advices[c];
	}
}

/* Of calls alone, as rocprofv3 records them: any program makes them. */
static const char *
advice_without_ops(enum cause c)
{
	switch (c) {
	case CAUSE_BETWEEN_OPS: return "mark ranges to see what runs there";
	case CAUSE_SYNC: return "synchronize less often";
	case CAUSE_COPY_BLOCK: return "pin memory, copy asynchronously";
	case CAUSE_ALLOC: return "allocate once and reuse the memory";
	default: return advices[c];
	}
}

const char *
cause_advice(enum cause c, unsigned of)
{
	if ((of & ADVICE_PYTHON) != 0 &&
	    (c == CAUSE_BETWEEN_OPS || c == CAUSE_NONE))
		return "sample the host: no event is recorded there";
	if ((of & ADVICE_TPU) != 0)
		return advice_on_tpu(c);
	return (of & (ADVICE_OPS | ADVICE_PYTHON)) != 0 ? advices[c]
							: advice_without_ops(c);
}

enum subject { OF_CALL, OF_ABOVE, OF_SELF, OF_OP, OF_PYTHON, ABOUT_COUNT };
static const char *const about_words[] = { "call", "above", "self", "op",
	"python", NULL };

/* Which pairs of bytes a text has, as a hashed bit set. */
struct pairs {
	uint64_t bits[4];
};

/* A shell pattern, and byte pairs of its longest literal part: those in one
 * word of the bit set. */
struct pattern {
	struct str glob;
	uint64_t pairs;
	unsigned word;
};
typedef VEC(struct pattern) patterns;

struct rule {
	uint8_t cause, about;
	patterns like, unless;
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
any_fits(const patterns *p, struct str name, const struct pairs *pairs)
{
	for (size_t i = 0; i < p->n; i++)
		if ((p->v[i].pairs & ~pairs->bits[p->v[i].word]) == 0 &&
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

unsigned
cause_above_bit(enum cause cause)
{
	for (unsigned i = 0; i < CAUSE_ABOVE_COUNT; i++)
		if (cause_above[i] == cause)
			return 1u << i;
	return 0;
}

/* Rules that apply to names of events of this kind. */
static bool
is_about(const struct rule *r, bool is_call)
{
	return r->about == OF_ABOVE || (r->about == OF_CALL) == is_call;
}

/* An event of no kind with rules of its own is only annotated. */
static void
set_kinds(struct cause_name *n, uint8_t self)
{
	if (self != CAUSE_NOTHING)
		n->op = n->python = n->other = self;
	else
		n->other = CAUSE_ANNOTATED;
	if (n->op == CAUSE_NOTHING)
		n->op = CAUSE_OP;
	if (n->python == CAUSE_NOTHING)
		n->python = CAUSE_PYTHON;
}

static void
look_up(
    const struct causes *c, struct str name, bool is_call, struct cause_name *n)
{
	uint8_t self = CAUSE_NOTHING;
	uint8_t *const of[ABOUT_COUNT] = { [OF_CALL] = &n->call,
		[OF_SELF] = &self,
		[OF_OP] = &n->op,
		[OF_PYTHON] = &n->python };
	const struct pairs pairs = pairs_of(name);

	for (size_t i = 0; i < c->rules.n; i++) {
		const struct rule *r = &c->rules.v[i];
		unsigned bit =
		    r->about == OF_ABOVE ? cause_above_bit(r->cause) : 0;

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
	if (!is_call)
		set_kinds(n, self);
}

const struct cause_name *
cause_of_new(
    struct causes *c, const struct dict *st, uint32_t name, bool is_call)
{
	while (c->names.n <= name)
		vec_push(&c->names, ((struct cause_name){ 0 }));
	look_up(c, dict_get(st, name), is_call, &c->names.v[name]);
	c->names.v[name].known |= is_call ? 2 : 1;
	return &c->names.v[name];
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
	struct buf *why; /* empty: no error so far */
};

/* The comma or brace that ends the alternative at i. */
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

/* The longest part of a pattern without wildcards. */
static struct str
plain_of(struct str s)
{
	struct str best = { s.p, 0 };

	for (size_t i = 0; i < s.len; i++) {
		size_t from = i;

		while (i < s.len && strchr("*?[\\", s.p[i]) == NULL)
			i++;
		if (i - from > best.len)
			best = (struct str){ s.p + from, i - from };
		if (i < s.len && s.p[i] == '[')
			while (i + 1 < s.len && s.p[i] != ']')
				i++;
	}
	return best;
}

static struct pattern
pattern_of(struct str glob)
{
	const struct pairs all = pairs_of(plain_of(glob));
	struct pattern p = { glob, all.bits[0], 0 };

	for (unsigned i = 1; i < sizeof all.bits / sizeof *all.bits; i++)
		if (__builtin_popcountll(all.bits[i]) >
		    __builtin_popcountll(p.pairs)) {
			p.pairs = all.bits[i];
			p.word = i;
		}
	return p;
}

/* Adds a pattern with its first braces expanded, recursively. */
static bool
add_pattern(const struct reader *r, patterns *to, struct str s)
{
	const char *open = memchr(s.p, '{', s.len);
	struct buf b = { 0 };
	size_t at, close;
	bool is_good = true;

	if (++r->c->npatterns > PATTERNS_MAX)
		return buf_fail(r->why, "too many patterns");
	if (open == NULL) {
		vec_push(to, pattern_of(arena_str(r->c->mem, s)));
		return true;
	}
	for (close = (size_t)(open - s.p) + 1;
	     (close = alternative_end(s, close)) < s.len && s.p[close] == ',';)
		close++;
	if (close == s.len)
		return buf_fail(r->why, "a pattern lacks a }");
	for (at = (size_t)(open - s.p) + 1; is_good && at <= close;) {
		size_t end = alternative_end(s, at);

		b.len = 0;
		buf_put(&b, s.p, (size_t)(open - s.p));
		buf_put(&b, s.p + at, end - at);
		buf_put(&b, s.p + close + 1, s.len - close - 1);
		is_good = add_pattern(r, to, buf_str(&b));
		at = end + 1;
	}
	buf_free(&b);
	return is_good;
}

/* Each is a call of add_pattern() within another. */
static bool
has_few_braces(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += s.p[i] == '{';
	return n <= BRACES_MAX;
}

static bool
read_list(const struct reader *r, patterns *to, bool is_pattern)
{
	enum json_token t;

	if (json_next(r->j) != JSON_T_ARRAY)
		return buf_fail(r->why, "a list of texts is missing");
	while ((t = json_next(r->j)) == JSON_T_STRING && !r->j->escaped)
		if (!is_pattern)
			vec_push(to,
			    ((struct pattern){
				.glob = arena_str(r->c->mem, r->j->raw) }));
		else if (!has_few_braces(r->j->raw))
			return buf_fail(r->why, "a pattern has too many {");
		else if (!add_pattern(r, to, r->j->raw))
			return false;
	return t == JSON_T_ARRAY_END ||
	    buf_fail(r->why, "a list holds something else than plain texts");
}

static bool
read_word(const struct reader *r, const char *const *words, size_t n,
    const char *what, uint8_t *word)
{
	if (json_next(r->j) != JSON_T_STRING || r->j->escaped)
		return buf_fail(r->why, "a plain text is missing");
	for (size_t i = 0; i < n; i++)
		if (str_eq(r->j->raw, str_of(words[i]))) {
			*word = (uint8_t)i;
			return true;
		}
	return buf_fail(r->why, "no %s is called '%.*s'", what,
	    (int)(r->j->raw.len < 100 ? r->j->raw.len : 100), r->j->raw.p);
}

static bool
read_member(const struct reader *r, struct rule *rule, patterns *examples)
{
	struct str key = r->j->raw;

	if (str_eq(key, STR("cause")))
		return read_word(
		    r, cause_words, CAUSE_COUNT, "cause", &rule->cause);
	if (str_eq(key, STR("of")))
		return read_word(
		    r, about_words, ABOUT_COUNT, "'of'", &rule->about);
	if (str_eq(key, STR("like")))
		return read_list(r, &rule->like, true);
	if (str_eq(key, STR("unless")))
		return read_list(r, &rule->unless, true);
	if (str_eq(key, STR("examples")))
		return read_list(r, examples, false);
	return buf_fail(r->why, "no member is called '%.*s'",
	    (int)(key.len < 100 ? key.len : 100), key.p);
}

static bool
check_rule(
    const struct reader *r, const struct rule *rule, const patterns *examples)
{
	const char *word = cause_words[rule->cause];

	if (rule->about == ABOUT_COUNT || rule->cause == CAUSE_NOTHING ||
	    rule->like.n == 0)
		return buf_fail(
		    r->why, "a rule needs \"cause\", \"of\" and \"like\"");
	if (rule->about == OF_ABOVE && cause_above_bit(rule->cause) == 0)
		return buf_fail(r->why, "%s can't be \"of\": \"above\"", word);
	for (size_t i = 0; i < examples->n; i++) {
		struct str name = examples->v[i].glob;
		const struct pairs pairs = pairs_of(name);

		if (!fits(rule, name, &pairs))
			return buf_fail(r->why,
			    "the rule of %s does not fit '%.*s'", word,
			    (int)(name.len < 100 ? name.len : 100), name.p);
	}
	return true;
}

static bool
read_rule(const struct reader *r, struct rule *rule)
{
	patterns examples = { 0 };
	enum json_token t;
	bool is_good = true;

	while (is_good && (t = json_next(r->j)) != JSON_T_OBJECT_END)
		is_good = t == JSON_T_KEY ? read_member(r, rule, &examples)
					  : buf_fail(r->why, "malformed JSON");
	is_good = is_good && check_rule(r, rule, &examples);
	vec_free(&examples);
	return is_good;
}

static void
free_rules(rule_list *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		vec_free(&rules->v[i].like);
		vec_free(&rules->v[i].unless);
	}
	vec_free(rules);
}

bool
causes_read(struct causes *c, struct str text, struct buf *why)
{
	struct json *j = xmalloc(sizeof *j);
	const struct reader r = { c, j, why };
	rule_list rules = { 0 };
	enum json_token t = JSON_T_END;
	bool is_good;

	why->len = 0;
	json_start(j, text.p, text.len);
	is_good =
	    json_next(j) == JSON_T_ARRAY || buf_fail(why, "no list of rules");
	while (is_good && (t = json_next(j)) == JSON_T_OBJECT) {
		struct rule *rule = vec_add(&rules);

		*rule = (struct rule){ .about = ABOUT_COUNT };
		is_good = read_rule(&r, rule);
	}
	if (is_good && (t != JSON_T_ARRAY_END || json_next(j) != JSON_T_END))
		is_good = buf_fail(why, "malformed JSON");
	if (is_good) { /* a site's rules precede those there */
		for (size_t i = 0; i < c->rules.n; i++)
			vec_push(&rules, c->rules.v[i]);
		vec_release(c->rules.v);
		c->rules = rules;
		causes_clear(c);
	} else {
		free_rules(&rules);
	}
	vec_release(j);
	return is_good;
}

void
causes_load(struct causes *c, const char *path)
{
	struct in *in = in_open(path);
	struct buf why = { 0 };

	while (in_more(in))
		if ((size_t)(in->end - in->p) > FILE_MAX_BYTES)
			die("%s: too long for a file of causes", path);
	if (!causes_read(c,
		(struct str){ (const char *)in->p, (size_t)(in->end - in->p) },
		&why))
		die("%s: %.*s", path, (int)why.len, why.p);
	buf_free(&why);
	in_close(in);
}

struct causes *
causes_create(void)
{
	struct causes *c = xcalloc(1, sizeof *c);
	struct buf why = { 0 };

	c->mem = arena_create();
	for (size_t i = 0; i < trace_ndata; i++)
		if (str_starts(str_of(trace_data[i].name), STR("causes/")) &&
		    !causes_read(c,
			(struct str){ (const char *)trace_data[i].bytes,
			    trace_data[i].len },
			&why))
			die("%s: %.*s", trace_data[i].name, (int)why.len,
			    why.p);
	buf_free(&why);
	return c;
}

void
causes_destroy(struct causes *c)
{
	if (c == NULL)
		return;
	free_rules(&c->rules);
	vec_free(&c->names);
	arena_destroy(c->mem);
	vec_release(c);
}
