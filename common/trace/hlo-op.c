/* SPDX-License-Identifier: MIT */
/* XLA's instructions, from the arguments of GPU work and the metadata. */
#include "trace/hlo-inside.h"
#include "trace/hlo-shape.h"

#include "stream/maker.h"

/* Index + 1 of these in a shape, or 0. */
struct says {
	bool is_known;
	uint16_t at[SAYS];
};

/* A module of the metadata, split on first use. */
struct module {
	struct str program, name;
	const struct fact *fact;
	bool is_split;
};

struct hlo {
	struct store *s;
	struct arena *mem;
	struct maker m;
	VEC(struct says) says; /* by shape */
	VEC(struct module) modules;
	VEC(struct str) texts; /* of their instructions, as objects */
	struct map text_of;    /* by module and name: index in texts */
	VEC(struct hlo_op *) ops;
	struct map op_of; /* by arguments of GPU work: index in ops */
	hlo_run_list runs;
	struct str device; /* the source's name of its first one */
	struct buf buf;
	json_items list, items; /* scratch */
};

/* ---- arguments of GPU work ---- */

static struct says *
says_of(struct hlo *h, uint32_t shape)
{
	static const struct str words[SAYS] = {
		[SAYS_OP] = STR_INIT("hlo_op"),
		[SAYS_PROGRAM] = STR_INIT("program_id"),
		[SAYS_MODULE] = STR_INIT("hlo_module"),
		[SAYS_SCOPE] = STR_INIT("name"),
		[SAYS_FLOPS] = STR_INIT("flops"),
		[SAYS_BYTES] = STR_INIT("bytes_accessed"),
	};
	const struct shape *of = h->s->st->shapes.v[shape];
	struct says *says;

	while (h->says.n <= shape)
		vec_push(&h->says, ((struct says){ .is_known = false }));
	says = &h->says.v[shape];
	if (LIKELY(says->is_known))
		return says;
	says->is_known = true;
	for (uint32_t i = 0; i < of->nentries; i++)
		for (int k = 0; k < SAYS; k++)
			if (of->entries[i].group == GROUP_ARGS &&
			    str_eq(dict_get(h->s->st, of->entries[i].key),
				words[k]))
				says->at[k] = (uint16_t)(i + 1);
	return says;
}

static struct key
said(struct hlo *h, uint32_t item, int what)
{
	unsigned no = says_of(h, h->s->items.v[item].shape)->at[what];

	return no > 0 ? item_key(h->s, item, no) : (struct key){ 0, KEY_NONE };
}

/* Program ids are unsigned, but some events have them signed. */
static struct str
text_of(struct hlo *h, struct key k)
{
	char digits[24];

	if (k.type == KEY_STR)
		return dict_get(h->s->st, (uint32_t)k.n);
	return arena_str(h->mem,
	    (struct str){ digits,
		k.type == KEY_INT ? num_put_u64(digits, (uint64_t)k.n) : 0 });
}

/* ---- modules ---- */

static uint64_t
text_key(size_t module, struct str name)
{
	return hash_more(hash_bytes(name.p, name.len), module);
}

/* Other objects have no instructions; of two with one name the first counts. */
static void
split_module(struct hlo *h, size_t no)
{
	struct module *m = &h->modules.v[no];

	if (m->is_split)
		return;
	m->is_split = true;
	if (!json_split(&h->list, h->mem, m->fact->val.s))
		return;
	m->name = json_member_text(&h->list, STR("module"));
	if (!json_split(&h->list, h->mem,
		json_member_text(&h->list, STR("instructions"))))
		return;
	for (size_t i = 0; i < h->list.n; i++) {
		size_t mark = arena_mark(h->mem);
		uint64_t *slot;
		bool is_new;

		(void)!json_split(&h->items, h->mem, h->list.v[i].text);
		slot = map_put(&h->text_of,
		    text_key(no, json_member_text(&h->items, STR("name"))),
		    &is_new);
		if (is_new) {
			*slot = h->texts.n;
			vec_push(&h->texts, h->list.v[i].text);
		}
		arena_reset(h->mem, mark);
	}
}

/* By id; without one by name, if unique. */
static size_t
find_module(struct hlo *h, struct str program, struct str name)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < h->modules.n; i++) {
		if (program.len == 0)
			split_module(h, i);
		if (program.len > 0 ? !str_eq(h->modules.v[i].program, program)
				    : !str_eq(h->modules.v[i].name, name))
			continue;
		if (found != SIZE_MAX)
			return SIZE_MAX;
		found = i;
	}
	return found;
}

const json_items *
hlo_members(struct hlo *h, const struct hlo_op *op, struct str name)
{
	size_t no = find_module(h, text_of(h, op->keys[SAYS_PROGRAM]),
	    text_of(h, op->keys[SAYS_MODULE]));
	const uint64_t *at;

	h->items.n = 0;
	if (no == SIZE_MAX)
		return &h->items;
	split_module(h, no);
	at = map_get(&h->text_of, text_key(no, name));
	if (at != NULL)
		(void)!json_split(&h->items, h->mem, h->texts.v[*at]);
	return &h->items;
}

/* ---- arguments of its ops ---- */

static void
put_list(struct buf *b, const int64_t *v, size_t n)
{
	buf_puts(b, b->len > 0 ? ",[" : "[");
	for (size_t i = 0; i < n; i++) {
		buf_puts(b, i > 0 ? "," : "");
		json_put_i64(b, v[i]);
	}
	buf_putc(b, ']');
}

/* Dimensions, type and strides of anything but tuples. */
static void
put_array(struct buf *lists, struct str shape)
{
	int64_t strides[HLO_DIMS_MAX] = { 0 }, stride = 1;
	struct hlo_array a;

	if (shape.len == 0 || shape.p[0] == '(' || !hlo_next_array(&shape, &a))
		return;
	if (lists[1].len > 0)
		buf_putc(&lists[1], ',');
	json_put_string(&lists[1], a.type);
	put_list(&lists[0], a.dims, a.ndims);
	for (size_t i = 0; i < a.ndims; i++) {
		int64_t d = a.norder == a.ndims ? a.order[i]
						: (int64_t)(a.ndims - 1 - i);

		if (d >= (int64_t)a.ndims)
			break;
		strides[d] = stride;
		if (__builtin_mul_overflow(stride, a.dims[d], &stride))
			stride = INT64_MAX;
	}
	put_list(&lists[2], strides, a.ndims);
}

static void
put_operands(struct hlo *h, const json_items *of)
{
	static const char *const keys[] = { "Input Dims", "Input type",
		"Input Strides" };
	struct buf lists[3] = { { 0 } };
	json_items operands = { 0 }, one = { 0 };

	(void)!json_split(
	    &operands, h->mem, json_member_text(of, STR("operands")));
	for (size_t i = 0; i < operands.n; i++)
		if (json_split(&one, h->mem, operands.v[i].text))
			put_array(lists, json_member_text(&one, STR("shape")));
	for (int k = 0; k < 3; k++) {
		h->buf.len = 0;
		buf_putc(&h->buf, '[');
		buf_put(&h->buf, lists[k].p, lists[k].len);
		buf_putc(&h->buf, ']');
		maker_json(&h->m, str_of(keys[k]), buf_str(&h->buf));
		buf_free(&lists[k]);
	}
	vec_free(&operands);
	vec_free(&one);
}

/* All except its name. Whatever its length, the stream has it once. */
static void
put_object(struct hlo *h, const json_items *of)
{
	struct dict *st = h->s->st;

	h->buf.len = 0;
	for (size_t i = 0; i + 1 < of->n; i += 2) {
		if (str_eq(of->v[i].text, STR("name")))
			continue;
		buf_putc(&h->buf, h->buf.len > 0 ? ',' : '{');
		json_put_string(&h->buf, of->v[i].text);
		buf_putc(&h->buf, ':');
		if (of->v[i + 1].type == JSON_T_STRING)
			json_put_string(&h->buf, of->v[i + 1].text);
		else
			buf_put(&h->buf, of->v[i + 1].text.p,
			    of->v[i + 1].text.len);
	}
	buf_puts(&h->buf, h->buf.len > 0 ? "}" : "{}");
	maker_entry(&h->m,
	    &(struct entry){ .key = intern_put(st->text, STR("hlo")),
		.type = VAL_JSON,
		.group = GROUP_ARGS },
	    &(struct value){ .type = VAL_JSON,
		.id = intern_put(st->text, buf_str(&h->buf)) });
}

static void
put_text(struct hlo *h, const char *key, struct str text)
{
	if (text.len > 0)
		maker_str(&h->m, str_of(key), text);
}

static void
put_count(struct hlo *h, const char *key, struct key k)
{
	if (k.type == KEY_INT)
		maker_int(&h->m, str_of(key), k.n, ROLE_NONE);
}

/* ---- ops ---- */

/* The module, then the levels of op_name, except the last, which is the
 * op's. */
static void
set_frames(struct hlo *h, struct hlo_op *op, struct str module,
    struct str program, struct str op_name)
{
	struct intern *text = h->s->st->text;
	struct str rest = op_name;
	const char *slash;

	h->buf.len = 0;
	buf_put(&h->buf, module.p, module.len);
	if (program.len > 0)
		buf_printf(&h->buf, "(%.*s)", (int)program.len, program.p);
	op->frames[op->nframes++] = intern_put(text, buf_str(&h->buf));
	op->program = hash_bytes(h->buf.p, h->buf.len);
	while (op->nframes < HLO_FRAMES &&
	    (slash = rest.len > 0 ? memchr(rest.p, '/', rest.len) : NULL) !=
		NULL) {
		struct str level = { rest.p, (size_t)(slash - rest.p) };

		op->in_loop |= str_eq(level, STR("while"));
		op->frames[op->nframes++] = intern_put(text, level);
		rest.len -= level.len + 1;
		rest.p = slash + 1;
	}
}

static struct str
module_name(struct hlo *h, struct str program)
{
	size_t no = find_module(h, program, STR(""));

	return no != SIZE_MAX ? h->modules.v[no].name : STR("");
}

/*
 * scope: from the GPU work's own arguments, used if the metadata has none.
 * buffer: the command buffer in which it was found, or NULL.
 */
static struct hlo_op *
make_op(struct hlo *h, const struct key keys[SAYS], const struct hlo_op *buffer,
    const char *how)
{
	struct hlo_op *op = arena_alloc(h->mem, sizeof *op);
	struct dict *st = h->s->st;
	struct str name = text_of(h, keys[SAYS_OP]);
	struct str program = text_of(h, keys[SAYS_PROGRAM]);
	struct str module = text_of(h, keys[SAYS_MODULE]), op_name, opcode;
	const json_items *of;
	const struct event *ev;

	*op = (struct hlo_op){ .name = intern_put(st->text, name) };
	memcpy(op->keys, keys, sizeof op->keys);
	of = hlo_members(h, op, name);
	if (module.len == 0)
		module = module_name(h, program);
	op_name = json_member_text(of, STR("op_name"));
	if (op_name.len == 0)
		op_name = text_of(h, keys[SAYS_SCOPE]);
	opcode = json_member_text(of, STR("opcode"));
	maker_begin(&h->m, KIND_OP, STR(CATEGORY_HLO));
	if (of->n > 0)
		put_operands(h, of);
	put_text(h, "hlo_module", module);
	put_text(h, "program_id", program);
	put_text(h, "hlo_opcode", opcode);
	put_text(h, "op_name", op_name);
	put_text(h, "source", json_member_text(of, STR("source")));
	put_count(h, "flops", keys[SAYS_FLOPS]);
	put_count(h, "bytes_accessed", keys[SAYS_BYTES]);
	if (buffer != NULL) {
		put_text(h, "command_buffer", dict_get(st, buffer->name));
		put_text(h, "matched_by", str_of(how));
	}
	if (of->n > 0) {
		put_object(h, of);
		/* the default depends on the device */
		if (str_find(buf_str(&h->buf), STR("precision"), false) >= 0)
			put_text(h, "device_type", h->device);
	}
	ev = maker_end_bare(&h->m, (struct uid){ 0, 0 });
	op->shape = dict_shape_with(st, ev->shape_id, HLO_FIELDS);
	op->vals = arena_str(h->mem, buf_str(&h->m.vals));
	set_frames(h, op, module, program, op_name);
	if (str_eq(opcode, STR("command-buffer"))) {
		op->in_loop = true;
		op->graph =
		    hlo_graph_create(h, op, json_member_text(of, STR("calls")));
	}
	return op;
}

/* variant: of an instruction found in another way; else 0. */
static uint64_t
op_hash(const struct key keys[SAYS_SCOPE], uint64_t variant)
{
	for (int k = 0; k < SAYS_SCOPE; k++)
		variant = hash_more(variant, key_hash(keys[k]));
	return variant;
}

struct hlo_op *
hlo_of(struct hlo *h, uint32_t item)
{
	struct key keys[SAYS] = { [SAYS_OP] = said(h, item, SAYS_OP) };
	uint64_t *place;
	bool is_new;

	if (keys[SAYS_OP].type == KEY_NONE)
		return NULL;
	keys[SAYS_PROGRAM] = said(h, item, SAYS_PROGRAM);
	keys[SAYS_MODULE] = said(h, item, SAYS_MODULE);
	place = map_put(&h->op_of, op_hash(keys, 0), &is_new);
	if (is_new) {
		*place = h->ops.n;
		for (int k = SAYS_SCOPE; k < SAYS; k++)
			keys[k] = said(h, item, k);
		vec_push(&h->ops, make_op(h, keys, NULL, NULL));
	}
	return h->ops.v[*place];
}

/* The keys of an instruction of the same program. */
static void
keys_beside(struct key keys[SAYS_SCOPE], const struct hlo_op *op, uint32_t name)
{
	memcpy(keys, op->keys, sizeof op->keys);
	keys[SAYS_OP] = (struct key){ name, KEY_STR };
}

struct hlo_op *
hlo_op_in(
    struct hlo *h, const struct hlo_op *buffer, uint32_t name, const char *how)
{
	uint64_t variant = hash_bytes(how, strlen(how)) ^ buffer->name;
	struct key keys[SAYS] = { { 0, KEY_NONE } };
	uint64_t *place;
	bool is_new;

	keys_beside(keys, buffer, name);
	place = map_put(&h->op_of, op_hash(keys, variant), &is_new);
	if (is_new) {
		*place = h->ops.n;
		vec_push(&h->ops, make_op(h, keys, buffer, how));
	}
	return h->ops.v[*place];
}

bool
hlo_is_named(struct hlo *h, const struct hlo_op *buffer, uint32_t name)
{
	struct key keys[SAYS_SCOPE];

	keys_beside(keys, buffer, name);
	return map_get(&h->op_of, op_hash(keys, 0)) != NULL;
}

struct dict *
hlo_dict(const struct hlo *h)
{
	return h->s->st;
}

hlo_run_list *
hlo_runs(struct hlo *h)
{
	return &h->runs;
}

struct arena *
hlo_mem(struct hlo *h)
{
	return h->mem;
}

uint32_t
hlo_frame_shape(struct hlo *h)
{
	maker_begin(&h->m, KIND_PYTHON, STR(CATEGORY_HLO));
	return dict_shape_with(h->s->st,
	    maker_end_bare(&h->m, (struct uid){ 0, 0 })->shape_id, HLO_FIELDS);
}

/* ---- a source ---- */

/* Its name, else its vendor. */
static void
find_device(struct hlo *h)
{
	const struct fact *f = source_fact(&h->s->source, "devices");

	if (f == NULL || !json_split(&h->list, h->mem, f->val.s) ||
	    h->list.n == 0 || !json_split(&h->items, h->mem, h->list.v[0].text))
		return;
	h->device = json_member_text(&h->items, STR("name"));
	if (h->device.len == 0)
		h->device = json_member_text(&h->items, STR("device_vendor"));
}

struct hlo *
hlo_create(struct store *s)
{
	struct hlo *h = xcalloc(1, sizeof *h);
	bool any = false;

	h->s = s;
	h->mem = arena_create();
	h->m.st = s->st;
	find_device(h);
	for (uint32_t i = 0; i < s->st->shapes.n; i++)
		any |= (KIND_BIT(s->st->shapes.v[i]->kind) & KINDS_GPU) != 0 &&
		    says_of(h, i)->at[SAYS_OP] > 0;
	for (size_t i = 0; i < s->metas.n; i++) {
		const struct fact *f = &s->metas.v[i].fact;
		struct str program = f->key;

		if (str_take(&program, STR("hlo ")))
			vec_push(&h->modules,
			    ((struct module){ .program = program, .fact = f }));
	}
	if (any)
		return h;
	hlo_destroy(h);
	return NULL;
}

void
hlo_destroy(struct hlo *h)
{
	if (h == NULL)
		return;
	for (size_t i = 0; i < h->ops.n; i++)
		hlo_graph_free(h->ops.v[i]->graph);
	arena_destroy(h->mem);
	maker_free(&h->m);
	vec_free(&h->says);
	vec_free(&h->modules);
	vec_free(&h->texts);
	map_free(&h->text_of);
	vec_free(&h->ops);
	map_free(&h->op_of);
	vec_free(&h->runs);
	buf_free(&h->buf);
	vec_free(&h->list);
	vec_free(&h->items);
	vec_release(h);
}
