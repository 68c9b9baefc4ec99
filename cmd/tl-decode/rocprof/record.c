/* SPDX-License-Identifier: MIT */
/* A record of rocprofv3: one object of scalars to one event. */
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

/* A copy belongs to the GPU it writes to, else to the one it reads from. */
static void
add_copy_device(struct process *p)
{
	const struct agent *dst = NULL, *src = NULL;

	if (p->has_dst)
		dst = agent_of(p, p->dst_agent);
	if (p->has_src)
		src = agent_of(p, p->src_agent);
	if (dst == NULL || !dst->is_gpu)
		dst = src;
	if (dst != NULL && dst->is_gpu)
		maker_int(&p->maker, STR("device"), dst->device, ROLE_DEV);
}

/* Where an integer of a record goes. */
static int64_t *
scalar_of(struct process *p, struct str path, bool **has)
{
	static const char *const axes = "xyz";
	static const struct str dims[2] = {
		STR_INIT("dispatch_info.workgroup_size."),
		STR_INIT("dispatch_info.grid_size."),
	};
	const struct {
		struct str path;
		int64_t *to;
		bool *has;
	} scalars[] = {
		{ STR("start_timestamp"), &p->start_ns, &p->has_start },
		{ STR("end_timestamp"), &p->end_ns, &p->has_end },
		{ STR("thread_id"), &p->tid, &p->has_tid },
		{ STR("kind"), &p->kind, &p->has_kind },
		{ STR("operation"), &p->operation, &p->has_operation },
		{ STR("dispatch_info.kernel_id"), &p->kernel_id,
		    &p->has_kernel },
	};

	for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
		if (str_eq(path, scalars[i].path)) {
			*has = scalars[i].has;
			return scalars[i].to;
		}
	}
	for (int d = 0; d < 2; d++) {
		const char *axis;

		if (path.len != dims[d].len + 1 || !str_starts(path, dims[d]))
			continue;
		axis = strchr(axes, path.p[path.len - 1]);
		if (axis != NULL && *axis != '\0') {
			*has = &p->has_dim[d];
			return &p->dim[d][axis - axes];
		}
	}
	return NULL;
}

static void
on_record(struct process *p, struct str path, struct value *v)
{
	static const struct {
		struct str path, key;
		enum role role;
	} names[] = {
		{ STR_INIT("correlation_id.internal"), STR_INIT("correlation"),
		    ROLE_CORR },
		{ STR_INIT("correlation_id.external"), STR_INIT("external_id"),
		    ROLE_NONE },
		{ STR_INIT("stream_id.handle"), STR_INIT("stream"),
		    ROLE_GPU_STREAM },
		{ STR_INIT("dispatch_info.queue_id.handle"), STR_INIT("queue"),
		    ROLE_NONE },
		{ STR_INIT("dispatch_info.dispatch_id"),
		    STR_INIT("dispatch_id"), ROLE_NONE },
		{ STR_INIT("dispatch_info.private_segment_size"),
		    STR_INIT("private_segment_size"), ROLE_NONE },
		{ STR_INIT("dispatch_info.group_segment_size"),
		    STR_INIT("group_segment_size"), ROLE_NONE },
	};
	bool *has;
	int64_t *to = v->type == VAL_INT ? scalar_of(p, path, &has) : NULL;

	if (to != NULL) {
		*to = v->i;
		*has = true;
		return;
	}
	if (v->type == VAL_INT &&
	    str_eq(path, STR("dispatch_info.agent_id.handle"))) {
		add_int(p, STR("agent_id"), v->i);
		maker_int(
		    &p->maker, STR("device"), device_of(p, v->i), ROLE_DEV);
		return;
	}
	if (v->type == VAL_INT && str_eq(path, STR("dst_agent_id.handle"))) {
		add_int(p, STR("dst_agent"), v->i);
		p->dst_agent = v->i;
		p->has_dst = true;
		return;
	}
	if (v->type == VAL_INT && str_eq(path, STR("src_agent_id.handle"))) {
		add_int(p, STR("src_agent"), v->i);
		p->src_agent = v->i;
		p->has_src = true;
		return;
	}
	if (v->type == VAL_STR && str_eq(path, STR("operation")))
		p->word = intern_put(p->words, v->s);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (str_eq(path, names[i].path)) {
			maker_arg(&p->maker, names[i].key, v, names[i].role);
			return;
		}
	}
	maker_arg(&p->maker, path, v, ROLE_NONE);
}

static void
add_dims(struct process *p, struct str key, int d)
{
	struct buf b = { 0 };

	buf_printf(&b, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", p->dim[d][0],
	    p->dim[d][1], p->dim[d][2]);
	maker_json(&p->maker, key, buf_str(&b));
	buf_free(&b);
}

/* The words of the numbers of kind and operation; the latter's word. */
static uint32_t
add_operation(struct process *p)
{
	const struct operations *ops = NULL;
	uint32_t name = p->word;

	if (p->has_kind && p->kind >= 0 && (uint64_t)p->kind < p->operations.n)
		ops = &p->operations.v[p->kind];
	if (ops != NULL && ops->kind != INTERN_NONE)
		add_word(p, STR("kind"), ops->kind);
	else if (p->has_kind)
		add_int(p, STR("kind"), p->kind);
	if (!p->has_operation)
		return name;
	if (ops != NULL && p->operation >= 0 &&
	    (uint64_t)p->operation < ops->names.n) {
		name = ops->names.v[p->operation];
		add_word(p, STR("operation"), name);
	} else {
		add_int(p, STR("operation"), p->operation);
	}
	return name;
}

static void
set_kernel_name(struct process *p)
{
	const struct symbol *sym = NULL;
	char text[64] = "unknown_kernel";
	uint64_t *place = NULL;

	if (p->has_kernel) {
		snprintf(
		    text, sizeof text, "unknown_kernel_%" PRId64, p->kernel_id);
		add_int(p, STR("kernel_id"), p->kernel_id);
		place = map_get(&p->symbols, (uint64_t)p->kernel_id);
	}
	if (place != NULL)
		sym = &p->symbol_list.v[*place];
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
 * The fixed fields that times give. What can't stand there is an argument: an
 * end without a start or before it, and what is out of range.
 */
static void
set_times(struct process *p)
{
	bool has_ts = p->has_start && source_is_time(p->start_ns);
	bool is_end = has_ts && source_is_time(p->end_ns);
	bool is_clamped = is_end && p->end_ns < p->start_ns;

	if (has_ts)
		maker_start(&p->maker, source_time(p->s, p->start_ns));
	else if (p->has_start)
		add_int(p, STR("start_timestamp"), p->start_ns);
	if (!p->has_end)
		return;
	if (!is_end || is_clamped)
		add_int(p, STR("end_timestamp"), p->end_ns);
	if (is_end)
		maker_dur(&p->maker, is_clamped ? 0 : p->end_ns - p->start_ns,
		    is_clamped ? EV_CLAMPED : 0);
}

static void
write_record(struct process *p)
{
	struct source_state *s = p->s;
	struct event *ev;

	maker_track(&p->maker, s->src, p->has_pid ? &p->pid : NULL,
	    p->has_tid ? &p->tid : NULL);
	set_times(p);
	ev = maker_end(&p->maker, (struct uid){ s->next_id++, 0 });
	s->skipped[skip_of_shape(
	    ev->shape->kind, ev->shape->ph, ev->shape->has)]++;
	source_event(s, ev);
	(void)source_trim(s, 0);
}

static void
begin_record(struct process *p)
{
	p->has_start = p->has_end = p->has_tid = false;
	p->has_kind = p->has_operation = p->has_kernel = false;
	p->has_dst = p->has_src = false;
	p->has_dim[0] = p->has_dim[1] = false;
	p->tid = 0;
	p->word = INTERN_NONE;
	for (int d = 0; d < 6; d++)
		p->dim[d / 3][d % 3] = 1;
}

void
rocprof_record(struct process *p, uint32_t buffer, struct str text)
{
	struct str buffer_name = rocprof_word(p, buffer);
	enum kind kind = KIND_SLICE;
	uint32_t word;
	bool is_kernel;

	(void)category_kind(buffer_name, &kind);
	begin_record(p);
	maker_begin(&p->maker, kind, buffer_name);
	rocprof_flatten(p, text, on_record);
	word = add_operation(p);
	if (kind == KIND_MEMCPY)
		add_copy_device(p);
	is_kernel = kind == KIND_KERNEL || p->has_kernel;
	if (is_kernel || p->has_dim[0])
		add_dims(p, STR("block"), 0);
	if (is_kernel || p->has_dim[1])
		add_dims(p, STR("grid"), 1);
	if (is_kernel)
		set_kernel_name(p);
	else
		maker_name(&p->maker,
		    word != INTERN_NONE ? rocprof_word(p, word) : buffer_name);
	/* times that are no times, a device, a name may be added to these */
	if (p->maker.entries.n > SHAPE_MAX_ENTRIES - 16)
		rocprof_die(p, text.p, "a record has too many members");
	write_record(p);
}
