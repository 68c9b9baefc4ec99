/* SPDX-License-Identifier: MIT */
/* Which events are collectives, and the text of their signatures. */
#include "cmd/tl-collective/collective.h"

#include <regex.h>
#include <stdlib.h>

#include "json/json.h"

#define TYPE_LETTERS "abcdefghijklmnopqrstuvwxyz_"

struct pattern {
	regex_t re;
	struct str type; /* p NULL: not told */
};

enum {
	NAME_UNKNOWN,
	NAME_OTHER,
	NAME_NCCL,
	NAME_PATTERN, /* + number of the pattern */
};

/* Members of args that make a signature, in the order of its text. */
enum part_no {
	P_PG,
	P_RANKS,
	P_NAME,
	P_N,
	P_DTYPE,
	P_IN,
	P_OUT,
	P_IN_SPLIT,
	P_OUT_SPLIT,
	P_STREAM,
	P_DESC,
	P_SRC,
	P_DST,
	P_SEQ,
	P_COUNT
};

static const struct str arg_names[P_COUNT] = {
	[P_PG] = STR_INIT("Process Group Name"),
	[P_RANKS] = STR_INIT("Process Group Ranks"),
	[P_NAME] = STR_INIT("Collective name"),
	[P_N] = STR_INIT("Group size"),
	[P_DTYPE] = STR_INIT("dtype"),
	[P_IN] = STR_INIT("In msg nelems"),
	[P_OUT] = STR_INIT("Out msg nelems"),
	[P_IN_SPLIT] = STR_INIT("In split size"),
	[P_OUT_SPLIT] = STR_INIT("Out split size"),
	[P_STREAM] = STR_INIT("stream"),
	[P_DESC] = STR_INIT("Process Group Description"),
	[P_SRC] = STR_INIT("Src Rank"),
	[P_DST] = STR_INIT("Dst Rank"),
	[P_SEQ] = STR_INIT("Seq"),
};

struct recogniser {
	const struct settings *set;
	struct dict *st;
	VEC(uint16_t) names; /* NAME_ by number */
};

/* RE or RE=TYPE: the type is a word behind the last '='. */
struct pattern *
pattern_new(const struct optparse *op)
{
	const char *eq = strrchr(op->arg, '=');
	struct pattern *p = xcalloc(1, sizeof *p);
	char text[256], *re;
	int err;

	if (eq == op->arg || *op->arg == '\0')
		die_usage(
		    "option '%s': '%s' is not RE[=TYPE]", op->name, op->arg);
	if (eq != NULL && eq[1 + strspn(eq + 1, TYPE_LETTERS)] != '\0')
		eq = NULL;
	re = xstrdup(op->arg);
	if (eq != NULL) {
		re[eq - op->arg] = '\0';
		p->type = str_of(eq + 1);
	}
	err = regcomp(&p->re, re, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (err == REG_ESPACE)
		die("out of memory");
	if (err != 0) {
		regerror(err, &p->re, text, sizeof text);
		die_usage("option '%s': %s", op->name, text);
	}
	free(re);
	return p;
}

struct recogniser *
recogniser_new(const struct settings *set, struct dict *st)
{
	struct recogniser *r = xcalloc(1, sizeof *r);

	r->set = set;
	r->st = st;
	return r;
}

void
recogniser_free(struct recogniser *r)
{
	vec_free(&r->names);
	free(r);
}

static uint16_t
judge_name(const struct recogniser *r, struct str name)
{
	char text[4096]; /* what is longer is matched by its beginning */
	size_t n = name.len < sizeof text - 1 ? name.len : sizeof text - 1;

	if (r->set->patterns.n == 0) {
		if (str_find(name, STR("cross_device_reduce"), true) >= 0)
			return NAME_PATTERN;
	} else if (n > 0) {
		memcpy(text, name.p, n);
		text[n] = '\0';
		for (size_t i = 0; i < r->set->patterns.n; i++)
			if (regexec(&r->set->patterns.v[i]->re, text, 0, NULL,
				0) == 0)
				return (uint16_t)(NAME_PATTERN + i);
	}
	return str_find(name, STR("nccl"), true) >= 0 ||
		str_find(name, STR("rccl"), true) >= 0
	    ? NAME_NCCL
	    : NAME_OTHER;
}

static uint16_t
name_kind(struct recogniser *r, uint32_t name)
{
	if (name == INTERN_NONE)
		return NAME_OTHER;
	while (r->names.n <= name)
		vec_push(&r->names, NAME_UNKNOWN);
	if (r->names.v[name] == NAME_UNKNOWN)
		r->names.v[name] = judge_name(r, dict_get(r->st, name));
	return r->names.v[name];
}

/* Whether the name alone is that of one. */
static bool
recognise_name(struct recogniser *r, uint32_t name)
{
	return name_kind(r, name) >= NAME_NCCL;
}

bool
recognise(struct recogniser *r, const struct event *ev)
{
	if (ev->shape->kind != KIND_KERNEL || !recognise_name(r, ev->name))
		return false;
	return (ev->corr.type != KEY_NONE || ev->ext.type != KEY_NONE) &&
	    str_eq(dict_get(r->st, ev->shape->cat), STR("kernel"));
}

static void
put_value(struct buf *b, const struct value *v)
{
	char text[NUM_DEC_MAX];

	switch (v->type) {
	case VAL_FALSE: buf_puts(b, "false"); break;
	case VAL_TRUE: buf_puts(b, "true"); break;
	case VAL_INT: json_put_i64(b, v->i); break;
	case VAL_UINT: buf_put(b, text, num_put_u64(text, v->u)); break;
	case VAL_DEC: buf_put(b, text, num_put_dec(text, v->dec)); break;
	case VAL_STR:
	case VAL_STRX: json_put_string(b, v->s); break;
	case VAL_NUM:
	case VAL_JSON:
	case VAL_JSONX: buf_put(b, v->s.p, v->s.len); break;
	default: buf_puts(b, "null"); break;
	}
}

/* "3>5": point to point works in a sequence of its own. */
static void
put_peers(struct buf *b, const struct value *src, const struct value *dst)
{
	if (src->type != VAL_INT || dst->type != VAL_INT) {
		buf_puts(b, "null");
		return;
	}
	buf_printf(b, "\"%" PRId64 ">%" PRId64 "\"", src->i, dst->i);
}

size_t
recognise_signature(
    struct recogniser *r, const struct event *ev, struct buf *b, uint32_t *seq)
{
	struct value v[P_COUNT] = { { .type = VAL_NULL } };
	struct entries it = entries_of(r->st, ev);
	uint16_t kind = name_kind(r, ev->name);
	size_t of_group = 0;

	while (entries_next(&it)) {
		struct str key = dict_get(r->st, it.entry->key);

		if (it.entry->group != GROUP_ARGS)
			continue;
		for (size_t i = 0; i < P_COUNT; i++)
			if (str_eq(key, arg_names[i]))
				v[i] = it.val;
	}
	if (v[P_NAME].type == VAL_NULL && kind >= NAME_PATTERN) {
		struct str type = r->set->patterns.n == 0
		    ? STR("allreduce")
		    : r->set->patterns.v[kind - NAME_PATTERN]->type;

		if (type.len > 0)
			v[P_NAME] =
			    (struct value){ .type = VAL_STRX, .s = type };
	}
	*seq = v[P_SEQ].type == VAL_INT && v[P_SEQ].i >= 0 &&
		v[P_SEQ].i < UINT32_MAX - 1
	    ? (uint32_t)v[P_SEQ].i + 1
	    : 0;
	b->len = 0;
	for (size_t i = 0; i <= P_DESC; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		put_value(b, &v[i]);
		if (i == P_RANKS)
			of_group = b->len;
	}
	buf_putc(b, ',');
	put_peers(b, &v[P_SRC], &v[P_DST]);
	buf_putc(b, ',');
	json_put_string(b, dict_get(r->st, ev->name));
	buf_putc(b, ']');
	return of_group;
}
