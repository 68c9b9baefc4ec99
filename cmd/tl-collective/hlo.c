/* SPDX-License-Identifier: MIT */
/* XLA's collectives: instructions, what they move, and who takes part. */
#include "cmd/tl-collective/hlo.h"

#include <stdlib.h>

#include "cmd/tl-collective/collective.h"
#include "trace/hlo-shape.h"
#include "json/json.h"

/* Opcodes, and what kernels of NCCL have in their names for them. */
static const struct {
	struct str opcode, kernel;
} kinds[] = {
	{ STR_INIT("all-reduce"), STR_INIT("AllReduce") },
	{ STR_INIT("all-gather"), STR_INIT("AllGather") },
	{ STR_INIT("reduce-scatter"), STR_INIT("ReduceScatter") },
	{ STR_INIT("all-to-all"), STR_INIT("SendRecv") },
	{ STR_INIT("ragged-all-to-all"), STR_INIT("SendRecv") },
	{ STR_INIT("collective-permute"), STR_INIT("SendRecv") },
	{ STR_INIT("collective-broadcast"), STR_INIT("Broadcast") },
};
#define NKINDS (sizeof kinds / sizeof *kinds)

enum phase { PHASE_WHOLE, PHASE_START, PHASE_DONE };

/* The meaning of an opcode or category. */
struct does {
	size_t kind; /* NKINDS: no collective */
	enum phase phase;
};

/* An instruction of a module. */
struct inst {
	struct does does;
	struct str module, op_name, source, dtype, groups;
	struct str calls; /* JSON; none of a collective */
	struct str start; /* of an end: its start */
	int64_t in, out, in_bytes, out_bytes;
	int64_t world;
	bool has_span; /* one event shows it from start to end */
};

/* Fields of what a kernel says of itself. */
enum {
	SEEN_PROGRAM,
	SEEN_MODULE,
	SEEN_NAME,
	SEEN_CATEGORY,
	SEEN_STREAM,
	SEEN_KERNEL,
};

struct hlo {
	struct arena *mem, *scratch;
	struct intern *names; /* PROGRAM/NAME to insts */
	VEC(struct inst) insts;
	struct intern *modules;   /* names, with the program of each, */
	VEC(struct str) programs; /* which is empty if there are several */
	struct intern *seen;      /* JSON lists */
	int64_t world;
	struct buf text;
};

struct hlo *
hlo_new(void)
{
	struct hlo *h = xcalloc(1, sizeof *h);

	h->mem = arena_create();
	h->scratch = arena_create();
	h->names = intern_create();
	h->modules = intern_create();
	h->seen = intern_create();
	return h;
}

void
hlo_clear(struct hlo *h)
{
	arena_reset(h->mem, 0);
	intern_clear(h->names);
	intern_clear(h->modules);
	intern_clear(h->seen);
	h->insts.n = h->programs.n = 0;
	h->world = 0;
}

int64_t
hlo_world(const struct hlo *h)
{
	return h->world;
}

static struct does
does_of(struct str opcode)
{
	static const struct {
		struct str end;
		enum phase phase;
	} ends[] = { { STR_INIT("-start"), PHASE_START },
		{ STR_INIT("-done"), PHASE_DONE } };
	struct does does = { .kind = 0 };

	for (size_t i = 0; i < 2; i++)
		if (str_ends(opcode, ends[i].end)) {
			opcode.len -= ends[i].end.len;
			does.phase = ends[i].phase;
		}
	while (does.kind < NKINDS && !str_eq(kinds[does.kind].opcode, opcode))
		does.kind++;
	return does;
}

/* ---- what moves ---- */

struct moved {
	int64_t nelems, bytes; /* NONE or HLO_UNKNOWN: too many */
	struct str dtype;      /* p NULL: none so far */
};

static void
add(int64_t *sum, int64_t v)
{
	if (*sum != NONE && (v == NONE || !num_add(*sum, v, sum)))
		*sum = NONE;
}

/* Adds the arrays of "(bf16[8,4]{1,0:T(8,128)},f32[])". */
static void
moved_add(struct moved *m, struct str shape)
{
	struct hlo_array a;

	while (hlo_next_array(&shape, &a)) {
		if (a.bytes == 0 && a.nelems != 0)
			continue;
		add(&m->nelems, a.nelems);
		add(&m->bytes, a.bytes);
		m->dtype = m->dtype.p == NULL || str_eq(m->dtype, a.type)
		    ? a.type
		    : STR("mixed");
	}
}

/* Result of a start: the second part of its shape's "(in,out,...)". */
static struct str
shape_second(struct str shape)
{
	size_t from = 0, i = 0;
	int depth = 0;

	for (; i < shape.len; i++) {
		char c = shape.p[i];

		depth += (c == '(' || c == '[' || c == '{') -
		    (c == ')' || c == ']' || c == '}');
		if (c != ',' || depth != 1)
			continue;
		if (from > 0)
			break;
		from = i + 1;
	}
	return from > 0 ? (struct str){ shape.p + from, i - from } : shape;
}

static void
add_operands(struct hlo *h, struct moved *m, struct str operands)
{
	json_items list = { 0 }, of = { 0 };

	(void)!json_split(&list, h->scratch, operands);
	for (size_t i = 0; i < list.n; i++)
		if (json_split(&of, h->scratch, list.v[i].text))
			moved_add(m, json_member_text(&of, STR("shape")));
	vec_free(&list);
	vec_free(&of);
}

/* Without an array the size is unknown. */
static void
take_sizes(struct hlo *h, struct inst *inst, struct str operands,
    struct str shape, struct str opcode)
{
	struct moved in = { 0 }, out = { 0 };

	add_operands(h, &in, operands);
	moved_add(&out,
	    str_ends(opcode, STR("-start")) &&
		    !str_eq(opcode, STR("all-reduce-start"))
		? shape_second(shape)
		: shape);
	if (str_starts(opcode, STR("collective-permute")))
		out = in;
	inst->dtype = arena_str(h->mem, in.dtype);
	inst->in = in.dtype.len > 0 ? in.nelems : NONE;
	inst->out = out.dtype.len > 0 ? out.nelems : NONE;
	inst->in_bytes = in.dtype.len > 0 ? in.bytes : NONE;
	inst->out_bytes = out.dtype.len > 0 ? out.bytes : NONE;
}

/* ---- instructions ---- */

static struct str
first_operand(struct hlo *h, struct str operands)
{
	json_items list = { 0 }, of = { 0 };
	struct str name = { "", 0 };

	if (json_split(&list, h->scratch, operands) && list.n > 0 &&
	    json_split(&of, h->scratch, list.v[0].text))
		name = arena_str(h->mem, json_member_text(&of, STR("name")));
	vec_free(&list);
	vec_free(&of);
	return name;
}

/* The operation that an async-start wraps. */
static bool
find_wrapped(struct hlo *h, struct str body, json_items *of)
{
	json_items list = { 0 };
	bool found = false;

	(void)!json_split(&list, h->scratch, body);
	for (size_t i = 0; i < list.n && !found; i++)
		found = json_split(of, h->scratch, list.v[i].text) &&
		    does_of(json_member_text(of, STR("opcode"))).kind < NKINDS;
	vec_free(&list);
	return found;
}

static void
take_instruction(
    struct hlo *h, struct str program, struct str module, json_items *of)
{
	struct str name = json_member_text(of, STR("name")),
		   opcode = json_member_text(of, STR("opcode"));
	struct str operands = json_member_text(of, STR("operands"));
	struct inst inst = { .module = module,
		.does = does_of(opcode),
		.op_name =
		    arena_str(h->mem, json_member_text(of, STR("op_name"))),
		.source =
		    arena_str(h->mem, json_member_text(of, STR("source"))),
		.calls =
		    arena_str(h->mem, json_member_text(of, STR("calls"))) };
	struct str groups, pairs;

	if (inst.does.kind == NKINDS && str_eq(opcode, STR("async-start")) &&
	    find_wrapped(h, json_member_text(of, STR("body")), of)) {
		opcode = json_member_text(of, STR("opcode"));
		inst.does = (struct does){ does_of(opcode).kind, PHASE_START };
	}
	if (inst.does.kind == NKINDS && inst.calls.len == 0)
		return;
	if (inst.does.phase == PHASE_DONE)
		inst.start = first_operand(h, operands);
	groups = json_member_text(of, STR("groups"));
	pairs = json_member_text(of, STR("pairs"));
	h->text.len = 0;
	inst.world = replicas_put(
	    &h->text, pairs.len > 0 ? pairs : groups, pairs.len > 0);
	inst.groups = arena_str(h->mem, buf_str(&h->text));
	take_sizes(
	    h, &inst, operands, json_member_text(of, STR("shape")), opcode);
	h->text.len = 0;
	buf_put(&h->text, program.p, program.len);
	buf_putc(&h->text, '/');
	buf_put(&h->text, name.p, name.len);
	if (intern_put(h->names, buf_str(&h->text)) == h->insts.n)
		vec_push(&h->insts, inst);
}

static void
take_module(struct hlo *h, struct str program, struct str name)
{
	uint32_t id = intern_put(h->modules, name);

	if (id == h->programs.n)
		vec_push(&h->programs, arena_str(h->mem, program));
	else
		h->programs.v[id] = STR("");
}

void
hlo_meta(struct hlo *h, const struct meta *m)
{
	json_items module = { 0 }, list = { 0 }, of = { 0 };
	struct str program = m->fact.key, name = { "", 0 };

	if (!str_take(&program, STR("hlo ")) || m->fact.val.s.p == NULL)
		return;
	arena_reset(h->scratch, 0);
	if (json_split(&module, h->scratch, m->fact.val.s)) {
		name =
		    arena_str(h->mem, json_member_text(&module, STR("module")));
		take_module(h, program, name);
		(void)!json_split(&list, h->scratch,
		    json_member_text(&module, STR("instructions")));
	}
	for (size_t i = 0; i < list.n; i++) {
		size_t mark = arena_mark(h->scratch);

		if (json_split(&of, h->scratch, list.v[i].text))
			take_instruction(h, program, name, &of);
		arena_reset(h->scratch, mark);
	}
	vec_free(&module);
	vec_free(&list);
	vec_free(&of);
}

static struct inst *
find(const struct hlo *h, struct str program, struct str name, struct buf *b)
{
	uint32_t id;

	b->len = 0;
	buf_put(b, program.p, program.len);
	buf_putc(b, '/');
	buf_put(b, name.p, name.len);
	id = intern_find(h->names, buf_str(b), hash_bytes(b->p, b->len));
	return id != INTERN_NONE ? &h->insts.v[id] : NULL;
}

/* ---- events ---- */

bool
hlo_recognise(
    struct bucket_rules *rules, const struct dict *st, const struct event *ev)
{
	struct value v;

	return ev->shape->kind == KIND_KERNEL &&
	    (bucket_of_event(rules, st, ev) == BUCKET_COMM ||
		(event_arg(st, ev, STR("hlo_category"), &v) &&
		    v.type == VAL_STR && does_of(v.s).kind < NKINDS));
}

/* A program's id is unsigned, but some events have it signed. */
static void
put_program(struct buf *b, const struct value *v)
{
	if (v->type == VAL_INT)
		buf_printf(b, "\"%" PRIu64 "\"", (uint64_t)v->i);
	else if (v->type == VAL_UINT)
		buf_printf(b, "\"%" PRIu64 "\"", v->u);
	else
		json_put_string(b, v->s);
}

uint32_t
hlo_see(struct hlo *h, const struct dict *st, const struct event *ev)
{
	static const struct str words[] = { STR_INIT("program_id"),
		STR_INIT("hlo_module"), STR_INIT("hlo_op"),
		STR_INIT("hlo_category") };
	struct buf *b = &h->text;
	struct value v;

	b->len = 0;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		v = (struct value){ .type = VAL_NULL };
		(void)event_arg(st, ev, words[i], &v);
		if (i == SEEN_PROGRAM)
			put_program(b, &v);
		else
			json_put_string(b, v.s);
	}
	if (ev->gpu_stream.type == KEY_INT)
		buf_printf(b, ",%" PRId64 ",", ev->gpu_stream.n);
	else
		buf_puts(b, ",null,");
	json_put_string(b, dict_get(st, ev->name));
	buf_putc(b, ']');
	return intern_put(h->seen, buf_str(b));
}

/* ---- signatures ---- */

/* The only instruction of a graph that a kernel can be; or NULL. */
static const struct inst *
only_call(
    struct hlo *h, struct str program, struct str calls, struct str kernel)
{
	json_items list = { 0 };
	const struct inst *only = NULL;
	struct buf b = { 0 };
	size_t n = 0;

	(void)!json_split(&list, h->scratch, calls);
	for (size_t i = 0; i < list.n; i++) {
		const struct inst *inst = find(h, program, list.v[i].text, &b);

		if (inst == NULL || inst->does.kind == NKINDS ||
		    str_find(kernel, kinds[inst->does.kind].kernel, true) < 0)
			continue;
		n++;
		only = inst;
	}
	vec_free(&list);
	buf_free(&b);
	return n == 1 ? only : NULL;
}

/* TPUs show the time between start and end as async-copy and the like. */
static bool
is_span(struct str kernel)
{
	return str_starts(kernel, STR("async-"));
}

/* The only program with a module of this name, or empty. */
static struct str
program_of(const struct hlo *h, struct str module)
{
	uint32_t id =
	    intern_find(h->modules, module, hash_bytes(module.p, module.len));

	return id != INTERN_NONE ? h->programs.v[id] : STR("");
}

/* The instruction that a kernel names, or NULL. */
static struct inst *
split_seen(struct hlo *h, uint32_t seen, json_items *of)
{
	if (!json_split(of, h->scratch, intern_get(h->seen, seen)))
		die("not a list"); /* we wrote it */
	if (of->v[SEEN_PROGRAM].text.len == 0)
		of->v[SEEN_PROGRAM].text =
		    program_of(h, of->v[SEEN_MODULE].text);
	return find(
	    h, of->v[SEEN_PROGRAM].text, of->v[SEEN_NAME].text, &h->text);
}

size_t
hlo_ready(struct hlo *h)
{
	json_items of = { 0 };

	arena_reset(h->scratch, 0);
	for (uint32_t i = 0; i < h->seen->list.n; i++) {
		struct inst *inst = split_seen(h, i, &of);

		if (inst != NULL && is_span(of.v[SEEN_KERNEL].text))
			inst->has_span = true;
	}
	vec_free(&of);
	return h->seen->list.n;
}

static void
put_text(struct buf *b, struct str s)
{
	if (s.len > 0)
		json_put_string(b, s);
	else
		buf_puts(b, "null");
}

static void
put_size(struct buf *b, int64_t v)
{
	if (v != NONE)
		buf_printf(b, ",%" PRId64, v);
	else
		buf_puts(b, ",null");
}

static void
put_signature(struct buf *b, const struct inst *inst, struct str name,
    const json_items *seen)
{
	static const struct inst unknown = {
		.in = NONE, .out = NONE, .in_bytes = NONE, .out_bytes = NONE
	};

	if (inst == NULL)
		inst = &unknown;
	buf_put(b, inst->groups.p, inst->groups.len);
	buf_putc(b, '\t');
	put_text(b, name);
	buf_putc(b, '\t');
	put_text(b, inst->dtype);
	put_size(b, inst->in);
	put_size(b, inst->out);
	buf_printf(b, ",null,null,%.*s,null,null,",
	    (int)seen->v[SEEN_STREAM].text.len, seen->v[SEEN_STREAM].text.p);
	put_text(b, seen->v[SEEN_KERNEL].text);
	buf_putc(b, ',');
	put_text(b, inst->module);
	buf_putc(b, ',');
	put_text(b, seen->v[SEEN_NAME].text);
	buf_putc(b, ',');
	put_text(b, inst->op_name);
	buf_putc(b, ',');
	put_text(b, inst->source);
	put_size(b, inst->in_bytes);
	put_size(b, inst->out_bytes);
	buf_putc(b, ']');
}

static enum hlo_role
role_of(enum phase phase, const struct inst *start, const json_items *seen)
{
	struct str kernel = seen->v[SEEN_KERNEL].text;
	bool is_tpu = seen->v[SEEN_CATEGORY].text.len > 0;

	if (phase == PHASE_WHOLE || is_span(kernel))
		return HLO_WHOLE;
	if (start == NULL || !is_tpu || start->has_span)
		return phase == PHASE_DONE || (start != NULL && is_tpu)
		    ? HLO_PART
		    : HLO_WHOLE;
	return phase == PHASE_DONE ? HLO_CLOSES : HLO_OPENS;
}

struct hlo_signature
hlo_signature(
    struct hlo *h, uint32_t no, const struct bucket_rules *rules, struct buf *b)
{
	json_items of = { 0 };
	const struct inst *inst = split_seen(h, no, &of), *start;
	struct str kernel = of.v[SEEN_KERNEL].text;
	struct str program = of.v[SEEN_PROGRAM].text;
	struct does does = does_of(of.v[SEEN_CATEGORY].text);
	struct hlo_signature sig = { 0 };

	if (inst != NULL && inst->does.kind == NKINDS)
		inst = only_call(h, program, inst->calls, kernel);
	if (inst != NULL)
		does = inst->does;
	start = inst != NULL && does.phase == PHASE_DONE
	    ? find(h, program, inst->start, &h->text)
	    : inst;
	sig.role = role_of(does.phase, start, &of);
	if (start != NULL)
		sig.pair = (uint32_t)(start - h->insts.v);
	b->len = 0;
	put_signature(b, inst,
	    does.kind < NKINDS ? kinds[does.kind].opcode
			       : bucket_comm_type(rules, kernel),
	    &of);
	sig.of_group = inst != NULL ? inst->groups.len : 0;
	if (inst != NULL && inst->world > h->world)
		h->world = inst->world;
	vec_free(&of);
	return sig;
}
