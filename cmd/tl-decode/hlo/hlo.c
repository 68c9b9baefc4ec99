/* SPDX-License-Identifier: MIT */
/* Named instructions and records of modules: see hlo.h. */
#include "cmd/tl-decode/hlo/module.h"
#include "json/json.h"

/* An instruction that a program's events name. */
struct named {
	uint32_t name; /* in hlo.names */
	bool is_found; /* in a module */
	struct str text;
};

struct program {
	uint64_t id;
	bool has_module;
	VEC(struct named) names;
};

struct hlo {
	struct map program_of; /* index in programs, by id */
	VEC(struct program) programs;
	struct intern *names;
	struct map seen; /* index << 32 | name */
	uint64_t nguessed, ntoo_large;
	struct buf record;
};

struct hlo *
hlo_create(void)
{
	struct hlo *h = xcalloc(1, sizeof *h);

	h->names = intern_create();
	return h;
}

void
hlo_destroy(struct hlo *h)
{
	for (size_t i = 0; i < h->programs.n; i++)
		vec_free(&h->programs.v[i].names);
	vec_free(&h->programs);
	map_free(&h->program_of);
	intern_destroy(h->names);
	map_free(&h->seen);
	buf_free(&h->record);
	vec_release(h);
}

void
hlo_name(
    struct hlo *h, uint64_t program, struct str instruction, struct str text)
{
	uint64_t at = map_number(&h->program_of, program);
	uint32_t name;
	bool is_new;

	if (instruction.len > 0 && instruction.p[0] == '%')
		instruction =
		    (struct str){ instruction.p + 1, instruction.len - 1 };
	if (at == h->programs.n)
		*vec_add(&h->programs) = (struct program){ .id = program };
	name = intern_put(h->names, instruction);
	(void)map_put(&h->seen, at << 32 | name, &is_new);
	if (is_new)
		vec_push(&h->programs.v[at].names,
		    ((struct named){ .name = name, .text = text }));
}

uint64_t
hlo_program(struct str name, uint64_t number)
{
	size_t at = name.len;
	uint64_t u;

	if (at == 0 || name.p[--at] != ')')
		return number;
	while (at > 0 && name.p[at - 1] != '(')
		at--;
	name = (struct str){ name.p + at, name.len - 1 - at };
	return num_u64(name, &u) ? u : number;
}

/* ---- names that are none of the module ---- */

/* Collectives that events name as before they became asynchronous. */
static const struct str families[] = { STR_INIT("all-to-all"),
	STR_INIT("reduce-scatter"), STR_INIT("all-gather") };
#define NFAMILIES (sizeof families / sizeof *families)

/* A name of a family with its number: none is 0, .0 is 1. */
struct numbered {
	uint64_t number;
	uint32_t id;
};

typedef VEC(struct numbered) numbered_vec;

static int
by_number(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return x->number != y->number ? (x->number < y->number ? -1 : 1)
				      : (x->id > y->id) - (x->id < y->id);
}

/* Whether it is family, or family.NUMBER. */
static bool
in_family(struct str name, struct str family, uint64_t *number)
{
	uint64_t u;

	*number = 0;
	if (!str_starts(name, family))
		return false;
	name = (struct str){ name.p + family.len, name.len - family.len };
	if (name.len == 0)
		return true;
	if (name.p[0] != '.' ||
	    !num_u64((struct str){ name.p + 1, name.len - 1 }, &u))
		return false;
	*number = u < UINT64_MAX ? u + 1 : u;
	return true;
}

/* What a name in events is in the module. */
struct meaning {
	struct str name;
	uint32_t inst; /* or NO_HLO */
	bool is_guess;
};

typedef VEC(struct meaning) meaning_vec;

/* Instructions with family and ending, by number. */
static void
list_family(struct hlo_module *m, struct str family, const char *ending,
    numbered_vec *list)
{
	struct str name;
	uint64_t number;

	m->text.len = 0;
	buf_put(&m->text, family.p, family.len);
	buf_puts(&m->text, ending);
	name = buf_str(&m->text);
	list->n = 0;
	for (uint32_t i = 0; i < m->insts.n; i++)
		if (in_family(m->insts.v[i].name, name, &number))
			vec_push(list,
			    ((struct numbered){ .number = number, .id = i }));
	if (list->n > 1)
		qsort(list->v, list->n, sizeof *list->v, by_number);
}

/*
 * The nth name that nothing else explains is the nth start, or without starts
 * the nth end; further names are the last one.
 */
static void
guess_family(struct hlo_module *m, struct str family, meaning_vec *all)
{
	numbered_vec names = { 0 }, insts = { 0 };
	uint64_t number;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->v[i].inst == NO_HLO &&
		    in_family(all->v[i].name, family, &number))
			vec_push(&names,
			    ((struct numbered){ .number = number, .id = i }));
	if (names.n > 0) {
		qsort(names.v, names.n, sizeof *names.v, by_number);
		list_family(m, family, "-start", &insts);
		if (insts.n == 0)
			list_family(m, family, "-done", &insts);
	}
	for (size_t i = 0; insts.n > 0 && i < names.n; i++) {
		struct meaning *one = &all->v[names.v[i].id];

		one->inst = insts.v[i < insts.n ? i : insts.n - 1].id;
		one->is_guess = true;
	}
	vec_free(&names);
	vec_free(&insts);
}

/* all-gather.1 as all-gather-start.1. */
static uint32_t
find_start(struct hlo_module *m, struct str name)
{
	uint64_t number;

	for (size_t i = 0; i < NFAMILIES; i++) {
		size_t n = families[i].len;

		if (!in_family(name, families[i], &number))
			continue;
		m->text.len = 0;
		buf_put(&m->text, name.p, n);
		buf_puts(&m->text, "-start");
		buf_put(&m->text, name.p + n, name.len - n);
		return module_find(m, buf_str(&m->text));
	}
	return NO_HLO;
}

static void
find_names(const struct hlo *h, struct hlo_module *m, const struct program *p,
    meaning_vec *all)
{
	for (size_t i = 0; i < p->names.n; i++) {
		struct str name = intern_get(h->names, p->names.v[i].name);
		struct meaning one = { .name = name,
			.inst = module_find(m, name) };

		if (one.inst != NO_HLO)
			m->insts.v[one.inst].is_wanted = true;
		else
			one.inst = find_start(m, name);
		vec_push(all, one);
	}
	for (size_t i = 0; i < NFAMILIES; i++)
		guess_family(m, families[i], all);
}

/* ---- the record ---- */

/* Puts an object into the list; false: the record would be too long. */
static bool
put_one(struct hlo_module *m, const struct meaning *one)
{
	size_t before = m->out->len;

	if (module_is_full(m))
		return false;
	if (m->out->p[before - 1] == '}')
		buf_putc(m->out, ',');
	if (one->inst == NO_HLO)
		module_put_buffer(m, one->name);
	else
		module_put(m, &m->insts.v[one->inst], one->name, one->is_guess);
	if (!module_is_full(m))
		return true;
	m->out->len = before;
	return false;
}

/* Puts the instructions that events name; of others, the names only. */
static void
put_named(struct hlo *h, struct hlo_module *m, struct program *p,
    const meaning_vec *all, struct buf *missing)
{
	for (size_t i = 0; i < all->n && m->error == NULL; i++) {
		const struct meaning *one = &all->v[i];

		p->names.v[i].is_found = one->inst != NO_HLO ||
		    str_starts(one->name, STR("command_buffer"));
		if (p->names.v[i].is_found && put_one(m, one)) {
			h->nguessed += one->is_guess;
			continue;
		}
		h->ntoo_large += p->names.v[i].is_found;
		buf_putc(missing, missing->len > 0 ? ',' : '[');
		json_put_string(missing, one->name);
	}
}

void
hlo_put_record(struct source_state *s, uint64_t program, struct str json)
{
	char key[32] = "hlo ";
	size_t len = 4 + num_put_u64(key + 4, program);

	source_meta(s, (struct str){ key, len },
	    (struct value){ .type = VAL_JSONX, .s = json });
}

static void
put_record(struct hlo *h, struct hlo_module *m, struct program *p)
{
	struct buf missing = { 0 };
	meaning_vec all = { 0 };

	find_names(h, m, p, &all);
	buf_putc(m->out, '{');
	put_text(m, "module", m->name);
	put_key(m, "instructions");
	buf_putc(m->out, '[');
	put_named(h, m, p, &all, &missing);
	for (size_t i = 0; i < m->wanted.n && m->error == NULL; i++) {
		uint32_t inst = m->wanted.v[i];
		struct meaning called = { m->insts.v[inst].name, inst, false };

		if (!put_one(m, &called))
			break;
	}
	buf_putc(m->out, ']');
	if (missing.len > 0) {
		put_key(m, "missing");
		buf_put(m->out, missing.p, missing.len);
		buf_putc(m->out, ']');
	}
	buf_putc(m->out, '}');
	buf_free(&missing);
	vec_free(&all);
}

/* Makes h->record from an HloProto or a dump; invalid if m->error is set. */
static void
record(struct hlo *h, struct hlo_module *m, struct program *p, struct str proto)
{
	h->record.len = 0;
	if (module_name_in(proto).len > 0)
		module_read_text(m, proto);
	else
		module_read(m, proto);
	m->out = &h->record;
	if (m->error == NULL)
		put_record(h, m, p);
}

bool
hlo_module(struct hlo *h, struct source_state *s, uint64_t program,
    struct str name, struct str proto, struct hlo_fault *fault)
{
	struct hlo_module m;
	uint64_t *place;

	program = hlo_program(name, program);
	place = map_get(&h->program_of, program);
	if (place == NULL)
		return true;
	record(h, &m, &h->programs.v[*place], proto);
	*fault = (struct hlo_fault){ m.error,
		(const unsigned char *)proto.p + m.at };
	if (m.error == NULL) {
		h->programs.v[*place].has_module = true;
		hlo_put_record(s, program, buf_str(&h->record));
	}
	module_free(&m);
	return fault->error == NULL;
}

struct str
hlo_dump_record(struct hlo *h, uint64_t program, struct str dump)
{
	struct hlo_module m;

	record(h, &m, &h->programs.v[*map_get(&h->program_of, program)], dump);
	module_free(&m);
	return buf_str(&h->record);
}

/* Makes the record of a program without module from texts. */
static void
put_texts(struct hlo *h, struct source_state *s, struct program *p)
{
	struct hlo_module m = { .out = &h->record };

	h->record.len = 0;
	buf_puts(&h->record, "{\"instructions\":[");
	for (size_t i = 0; i < p->names.n && !module_is_full(&m); i++) {
		struct named *one = &p->names.v[i];

		if (one->text.len == 0)
			continue;
		if (h->record.p[h->record.len - 1] == '}')
			buf_putc(&h->record, ',');
		module_put_text(&m, intern_get(h->names, one->name), one->text);
		one->is_found = true;
	}
	buf_puts(&h->record, "]}");
	if (h->record.p[h->record.len - 3] == '}')
		hlo_put_record(s, p->id, buf_str(&h->record));
	buf_free(&m.text);
}

void
hlo_finish(struct hlo *h, struct source_state *s)
{
	uint64_t nmissing = 0;

	for (size_t i = 0; i < h->programs.n; i++) {
		struct program *p = &h->programs.v[i];

		if (!p->has_module)
			put_texts(h, s, p);
		for (size_t k = 0; k < p->names.n; k++)
			nmissing += !p->names.v[k].is_found;
	}
	if (nmissing > 0 && s->dumps == NULL)
		report(MSG_HLO_MISSING, s->in->name, nmissing);
	if (h->ntoo_large > 0)
		report(MSG_HLO_TOO_LARGE, s->in->name, h->ntoo_large);
	if (h->nguessed > 0)
		report(MSG_HLO_GUESSED, s->in->name, h->nguessed);
}
