/* SPDX-License-Identifier: MIT */
/* A record of rocprofv3: an object of scalars becomes an event. */
#include <stdio.h>

#include "cmd/tl-decode/rocprof/rocprof.h"

static void
add_int(struct process *p, struct str key, int64_t i)
{
	maker_int(&p->maker, key, i, ROLE_NONE);
}

static void
add_word(struct process *p, struct str key, uint32_t id)
{
	maker_str(&p->maker, key, rocprof_word(p, id));
}

static const struct agent *
agent_of(const struct process *p, int64_t handle)
{
	for (size_t i = 0; i < p->agents.n; i++)
		if (p->agents.v[i].handle == handle)
			return &p->agents.v[i];
	return NULL;
}

static int64_t
device_of(const struct process *p, int64_t handle)
{
	const struct agent *a = agent_of(p, handle);

	return a != NULL ? a->device : handle;
}

static bool
has(const struct process *p, enum record_field field)
{
	return (p->has >> field & 1) != 0;
}

/* The GPU that a copy writes to, else the one it reads from. */
static void
add_copy_device(struct process *p, uint32_t word)
{
	const struct agent *dst = NULL, *src = NULL;
	enum record_field gpu = REC_DST;

	/* no table of agents: by direction */
	if (word != INTERN_NONE &&
	    str_ends(rocprof_word(p, word), STR("TO_HOST")))
		gpu = REC_SRC;
	if (p->agents.n == 0 && has(p, gpu))
		maker_int(&p->maker, STR("device"), p->field[gpu], ROLE_DEV);
	if (has(p, REC_DST))
		dst = agent_of(p, p->field[REC_DST]);
	if (has(p, REC_SRC))
		src = agent_of(p, p->field[REC_SRC]);
	if (dst == NULL || !dst->is_gpu)
		dst = src;
	else if (src != NULL && src->is_gpu)
		add_int(p, STR("src_device"), src->device);
	if (dst != NULL && dst->is_gpu)
		maker_int(&p->maker, STR("device"), dst->device, ROLE_DEV);
}

/*
 * The meaning of a path: a field if the value is an integer, an argument if it
 * has a key. Other values of fields are arguments under the path.
 */
static const struct member {
	struct str path;
	enum record_field field;
	struct str key;
	enum role role;
} members[] = {
#define DISPATCH(path) STR_INIT("dispatch_info." path)
	{ STR_INIT("start_timestamp"), .field = REC_START },
	{ STR_INIT("end_timestamp"), .field = REC_END },
	{ STR_INIT("thread_id"), .field = REC_TID },
	{ STR_INIT("kind"), .field = REC_KIND },
	{ STR_INIT("operation"), .field = REC_OPERATION },
	{ STR_INIT("correlation_id.internal"), REC_NONE,
	    STR_INIT("correlation"), ROLE_CORR },
	{ STR_INIT("correlation_id.external"), .key = STR_INIT("external_id") },
	{ STR_INIT("stream_id.handle"), REC_NONE, STR_INIT("stream"),
	    ROLE_GPU_STREAM },
	{ STR_INIT("dst_agent_id.handle"), REC_DST, STR_INIT("dst_agent"), 0 },
	{ STR_INIT("src_agent_id.handle"), REC_SRC, STR_INIT("src_agent"), 0 },
	{ DISPATCH("agent_id.handle"), REC_AGENT, STR_INIT("agent_id"), 0 },
	{ DISPATCH("queue_id.handle"), .key = STR_INIT("queue") },
	{ DISPATCH("kernel_id"), .field = REC_KERNEL },
	{ DISPATCH("dispatch_id"), .key = STR_INIT("dispatch_id") },
	{ DISPATCH("private_segment_size"),
	    .key = STR_INIT("private_segment_size") },
	{ DISPATCH("group_segment_size"),
	    .key = STR_INIT("group_segment_size") },
	{ DISPATCH("workgroup_size.x"), .field = REC_BLOCK },
	{ DISPATCH("workgroup_size.y"), .field = REC_BLOCK + 1 },
	{ DISPATCH("workgroup_size.z"), .field = REC_BLOCK + 2 },
	{ DISPATCH("grid_size.x"), .field = REC_GRID },
	{ DISPATCH("grid_size.y"), .field = REC_GRID + 1 },
	{ DISPATCH("grid_size.z"), .field = REC_GRID + 2 },
#undef DISPATCH
};

static const struct member *
member_of(struct str path)
{
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (str_eq(path, members[i].path))
			return &members[i];
	return NULL;
}

void
rocprof_member(struct process *p, struct str path, struct value *v)
{
	const struct member *m = member_of(path);
	enum record_field field = m != NULL ? m->field : REC_NONE;

	if (field != REC_NONE && v->type == VAL_INT) {
		p->field[field] = v->i;
		p->has |= UINT32_C(1) << field;
		if (m->key.len == 0)
			return;
	} else if (field != REC_NONE) {
		m = NULL;
	}
	if (field == REC_OPERATION && v->type == VAL_STRX)
		p->word = intern_put(p->words, v->s);
	maker_arg(&p->maker, m != NULL ? m->key : path, v,
	    m != NULL ? m->role : ROLE_NONE);
	if (field == REC_AGENT && m != NULL)
		maker_int(
		    &p->maker, STR("device"), device_of(p, v->i), ROLE_DEV);
}

static bool
has_dim(const struct process *p, enum record_field x)
{
	return (p->has >> x & 7) != 0;
}

static void
add_dims(struct process *p, struct str key, enum record_field x)
{
	const int64_t *dim = &p->field[x];
	struct buf b = { 0 };

	buf_printf(&b, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", dim[0], dim[1],
	    dim[2]);
	maker_json(&p->maker, key, buf_str(&b));
	buf_free(&b);
}

/* Without a block, the work-items per block are unknown. */
static void
add_launch(struct process *p, bool is_whole)
{
	bool has_block = is_whole || has_dim(p, REC_BLOCK);
	int64_t *grid = &p->field[REC_GRID];

	if (has_block)
		add_dims(p, STR("block"), REC_BLOCK);
	for (int i = 0; has_block && i < 3; i++)
		grid[i] = decode_blocks(grid[i], p->field[REC_BLOCK + i]);
	if (is_whole || has_dim(p, REC_GRID))
		add_dims(
		    p, has_block ? STR("grid") : STR("grid_size"), REC_GRID);
}

/* Words of the numbers of kind and operation; returns the latter. */
static uint32_t
add_operation(struct process *p)
{
	int64_t kind = p->field[REC_KIND];
	int64_t operation = p->field[REC_OPERATION];
	const struct operations *ops = NULL;
	uint32_t name = p->word;

	if (has(p, REC_KIND) && (uint64_t)kind < p->operations.n)
		ops = &p->operations.v[kind];
	if (ops != NULL && ops->kind != INTERN_NONE)
		add_word(p, STR("kind"), ops->kind);
	else if (has(p, REC_KIND))
		add_int(p, STR("kind"), kind);
	if (!has(p, REC_OPERATION))
		return name;
	if (ops != NULL && (uint64_t)operation < ops->names.n) {
		name = ops->names.v[operation];
		add_word(p, STR("operation"), name);
	} else {
		add_int(p, STR("operation"), operation);
	}
	return name;
}

static void
set_kernel_name(struct process *p)
{
	const struct symbol *sym = NULL;
	char text[64] = "unknown_kernel";
	uint64_t *place = NULL;

	if (has(p, REC_KERNEL)) {
		snprintf(text, sizeof text, "unknown_kernel_%" PRId64,
		    p->field[REC_KERNEL]);
		add_int(p, STR("kernel_id"), p->field[REC_KERNEL]);
		place = map_get(&p->symbols, (uint64_t)p->field[REC_KERNEL]);
	}
	if (place != NULL)
		sym = &p->symbol_list.v[*place];
	for (int i = 0; sym != NULL && i < SYMBOL_REGISTERS; i++)
		if (sym->registers[i] >= 0)
			add_int(p, rocprof_registers[i].arg, sym->registers[i]);
	if (p->kernel_name != INTERN_NONE) {
		maker_name(&p->maker, rocprof_word(p, p->kernel_name));
		return;
	}
	if (sym == NULL || sym->name == INTERN_NONE) {
		maker_name(&p->maker, str_of(text));
		return;
	}
	if (sym->full != sym->name)
		maker_str(&p->maker, STR("kernel"),
		    intern_get(p->symbol_names, sym->full));
	maker_name(&p->maker, intern_get(p->symbol_names, sym->name));
}

/*
 * Sets fixed fields of time. Invalid values become arguments: an end before the
 * start or without one, and what is out of range.
 */
static void
set_times(struct process *p)
{
	int64_t start_ns = p->field[REC_START], end_ns = p->field[REC_END];
	bool has_ts = has(p, REC_START) && source_is_time(start_ns);
	bool is_end = has_ts && source_is_time(end_ns);
	bool is_clamped = is_end && end_ns < start_ns;

	if (has_ts)
		maker_start(&p->maker, source_time(p->s, start_ns));
	else if (has(p, REC_START))
		add_int(p, STR("start_timestamp"), start_ns);
	if (!has(p, REC_END))
		return;
	if (!is_end || is_clamped)
		add_int(p, STR("end_timestamp"), end_ns);
	if (is_end)
		maker_dur(&p->maker, is_clamped ? 0 : end_ns - start_ns,
		    is_clamped ? EV_CLAMPED : 0);
}

static void
write_record(struct process *p)
{
	struct source_state *s = p->s;

	maker_track(&p->maker, s->src, p->has_pid ? &p->pid : NULL,
	    has(p, REC_TID) ? &p->field[REC_TID] : NULL);
	set_times(p);
	(void)source_write(s, &p->maker);
}

void
rocprof_begin(struct process *p, uint32_t buffer)
{
	struct str name = rocprof_word(p, buffer);
	enum kind kind = KIND_SLICE;

	(void)category_kind(name, &kind);
	maker_begin(&p->maker, kind, name);
	p->buffer = buffer;
	p->has = 0;
	p->word = p->kernel_name = INTERN_NONE;
	memset(p->field, 0, sizeof p->field);
	for (int i = REC_BLOCK; i < REC_COUNT; i++)
		p->field[i] = 1;
}

bool
rocprof_end(struct process *p)
{
	enum kind kind = (enum kind)p->maker.shape.kind;
	bool is_kernel = kind == KIND_KERNEL || has(p, REC_KERNEL);
	bool is_json = p->t != NULL; /* JSON omits dimensions of 1 */
	uint32_t word = add_operation(p);

	if (kind == KIND_MEMCPY)
		add_copy_device(p, word);
	add_launch(p, is_kernel && is_json);
	if (is_kernel)
		set_kernel_name(p);
	else
		maker_name(&p->maker,
		    rocprof_word(p, word != INTERN_NONE ? word : p->buffer));
	/* room for invalid times, device, name */
	if (p->maker.entries.n > SHAPE_MAX_ENTRIES - 16)
		return false;
	write_record(p);
	return true;
}

void
rocprof_record(struct process *p, uint32_t buffer, struct str text)
{
	rocprof_begin(p, buffer);
	rocprof_flatten(p, text, rocprof_member);
	if (!rocprof_end(p))
		rocprof_die(p, text.p, ROCPROF_TOO_MANY);
}
