/* SPDX-License-Identifier: MIT */
/*
 * GPU work as PyTorch's profiler writes it, render stages, whose stage tells
 * the kind; and GPU counters.
 */
#include "cmd/tl-decode/perfetto/perfetto.h"

/* A GpuRenderStageEvent's fields. */
struct stage {
	uint64_t lane, stage, context, kernel, name_iid;
	uint64_t dur;
	int64_t gpu;
	bool has_dur, has_gpu, has_context, has_kernel;
	struct str name;
	struct args args;
	struct buf waits;
};

/* ---- arguments of a launch ---- */

/* {1, 2, 3: x, y, z} as [x,y,z] */
static void
add_dims(
    struct perfetto *p, struct str key, struct str bytes, struct args *args)
{
	uint64_t d[3] = { 1, 1, 1 };
	struct buf text = { 0 };
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m))
		if (m.field >= 1 && m.field <= 3 && m.type == PROTO_VARINT)
			d[m.field - 1] = m.u;
	buf_printf(
	    &text, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", d[0], d[1], d[2]);
	args_json(args, perfetto_text(p, key), buf_str(&text));
	buf_free(&text);
}

/*
 * A launch's argument, like a debug annotation with other numbers: {1:
 * name_iid, 2: name, 3: int, 4: uint, 5: double, 6: string}
 */
static void
add_launch_arg(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct args *args)
{
	static const struct str registers = STR_INIT("registers_per_thread");
	struct str name = STR("");
	struct value v = { .type = VAL_NULL };
	struct fields m = fields_of(bytes);
	while (perfetto_next(p, &m)) {
		switch (m.field) {
		case 1:
			name =
			    perfetto_name(p, sequence_name(q, NAMES_ARG, m.u));
			break;
		case 2: name = m.type == PROTO_BYTES ? m.bytes : name; break;
		case 3:
		case 4:
			v = (struct value){ .type = VAL_INT,
				.i = (int64_t)m.u };
			break;
		case 6:
			if (m.type == PROTO_BYTES)
				v = (struct value){ .type = VAL_STR,
					.s = m.bytes };
			break;
		default: break;
		}
	}
	if (str_eq(name, registers))
		name = STR("registers per thread");
	if (v.type == VAL_INT)
		args_int(args, perfetto_text(p, name), v.i);
	else if (v.type == VAL_STR)
		args_text(p, args, perfetto_text(p, name), v.s);
}

/* {1: grid_size, 2: workgroup_size, 3: args} */
static void
read_launch(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct args *args)
{
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m)) {
		if (m.type != PROTO_BYTES)
			continue;
		if (m.field == 1)
			add_dims(p, STR("grid"), m.bytes, args);
		else if (m.field == 2)
			add_dims(p, STR("block"), m.bytes, args);
		else if (m.field == 3)
			add_launch_arg(p, q, m.bytes, args);
	}
}

/* {1: name, 2: value}, both text; numbers become numbers */
static void
read_extra(struct perfetto *p, struct str bytes, struct args *args)
{
	static const struct {
		struct str from, to;
	} names[] = { { STR_INIT("stream id"), STR_INIT("stream") } };
	struct str name = STR(""), text = STR("");
	struct fields m = fields_of(bytes);
	int64_t i;

	while (perfetto_next(p, &m)) {
		if (m.type != PROTO_BYTES)
			continue;
		if (m.field == 1)
			name = m.bytes;
		else if (m.field == 2)
			text = m.bytes;
	}
	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (str_eq(name, names[k].from))
			name = names[k].to;
	if (num_i64(text, &i))
		args_int(args, perfetto_text(p, name), i);
	else
		args_text(p, args, perfetto_text(p, name), text);
}

/* ---- stages ---- */

static void
read_stage_field(struct perfetto *p, const struct sequence *q,
    const struct fields *m, struct stage *s)
{
	bool is_text = m->type == PROTO_BYTES;
	struct proto_numbers it;
	uint64_t u;

	switch (m->field) {
	case 2:
		s->dur = m->u;
		s->has_dur =
		    m->type == PROTO_VARINT && m->u <= (uint64_t)DECODE_MAX_NS;
		break;
	case 5:
		s->context = m->u;
		s->has_context = true;
		break;
	case 6:
		if (is_text)
			read_extra(p, m->bytes, &s->args);
		break;
	case 11:
		s->gpu = (int64_t)m->u;
		s->has_gpu = true;
		break;
	case 13: s->lane = m->u; break;
	case 14: s->stage = m->u; break;
	case 17: s->name = is_text ? m->bytes : s->name; break;
	case 18:
		it = proto_numbers(m, PROTO_VARINT);
		while (proto_number(&it, &u))
			buf_printf(&s->waits, "%s%" PRIu64,
			    s->waits.len > 0 ? "," : "[", u);
		if (it.is_bad)
			(void)perfetto_fault(p, "a list is malformed");
		break;
	case 19:
		s->kernel = m->u;
		s->has_kernel = true;
		break;
	case 20: s->name_iid = m->u; break;
	case 21:
		if (is_text)
			read_launch(p, q, m->bytes, &s->args);
		break;
	default: break;
	}
}

static enum kind
kind_of_stage(struct str name)
{
	static const struct {
		struct str name;
		enum kind kind;
	} kinds[] = {
		{ STR_INIT("Kernel"), KIND_KERNEL },
		{ STR_INIT("Memcpy"), KIND_MEMCPY },
		{ STR_INIT("Memset"), KIND_MEMSET },
		{ STR_INIT("Annotation"), KIND_GPU_ANNOTATION },
		{ STR_INIT("EventRecord"), KIND_GPU_EVENT },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (str_eq(name, kinds[i].name))
			return kinds[i].kind;
	return KIND_SLICE;
}

static struct str
name_of(const struct perfetto *p, const struct sequence *q, enum names what,
    uint64_t iid)
{
	return perfetto_name(p, sequence_name(q, what, iid));
}

static struct str
stage_name(const struct perfetto *p, const struct sequence *q,
    const struct stage *s, struct str stage)
{
	struct str name = name_of(p, q, NAMES_EVENT, s->name_iid);

	if (s->name_iid != 0 && name.len > 0)
		return name;
	if (s->name.len > 0)
		return s->name;
	if (s->has_kernel)
		name = name_of(p, q, NAMES_KERNEL, s->kernel);
	return name.len > 0 ? name : stage;
}

static void
write_stage(struct perfetto *p, const struct sequence *q, struct stage *s,
    int64_t ts_ns)
{
	struct str stage = name_of(p, q, NAMES_STAGE, s->stage);
	struct str name = stage_name(p, q, s, stage);
	const uint64_t *pid = map_get(&q->pids, s->context);
	struct open_slice o = { .name = perfetto_text(p, name),
		.category = NO_NAME,
		.ts_ns = ts_ns,
		.args = s->args };
	struct whose whose = { .has_pid = pid != NULL,
		.pid = pid != NULL ? (int64_t)*pid : 0,
		.tid = (int64_t)s->lane };
	enum kind kind = kind_of_stage(stage);
	int64_t end = ts_ns + (s->has_dur ? (int64_t)s->dur : 0);

	if (kind == KIND_SLICE && stage.len == 0) /* any work */
		p->s->skipped[SKIP_CATEGORY]++;
	if (s->has_gpu)
		args_int(&o.args, KEY_DEVICE, s->gpu);
	if (s->waits.len > 0) {
		buf_putc(&s->waits, ']');
		args_json(&o.args, perfetto_text(p, STR("waits")),
		    buf_str(&s->waits));
	}
	(void)write_span(p, &o, &whose, kind,
	    sequence_name(q, NAMES_STAGE, s->stage), s->has_dur ? &end : NULL,
	    NULL);
	s->args = o.args;
}

bool
gpu_stage(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns)
{
	struct stage s = { .name = STR("") };
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m))
		read_stage_field(p, q, &m, &s);
	if (p->fault == NULL)
		write_stage(p, q, &s, ts_ns);
	args_free(&s.args);
	buf_free(&s.waits);
	return p->fault == NULL;
}

/* ---- counters ---- */

void
counter_sets_free(struct counter_sets *sets)
{
	for (size_t i = 0; i < sets->list.n; i++)
		map_free(&sets->list.v[i].names);
	vec_free(&sets->list);
	map_free(&sets->at);
}

static struct gpu_counters *
counters_of(struct counter_sets *sets, uint64_t number)
{
	bool is_new;
	uint64_t *at = map_put(&sets->at, number, &is_new);

	if (is_new) {
		*at = sets->list.n;
		vec_push(&sets->list, ((struct gpu_counters){ .gpu = 0 }));
	}
	return &sets->list.v[*at];
}

/* A descriptor {1: specs {1: counter_id, 2: name}} */
static void
describe_counters(
    struct perfetto *p, struct str bytes, struct gpu_counters *set)
{
	struct fields m = fields_of(bytes), spec;

	while (perfetto_next(p, &m)) {
		uint64_t number = 0;
		uint32_t name = NO_NAME;

		if (m.field != 1 || m.type != PROTO_BYTES)
			continue;
		spec = fields_of(m.bytes);
		while (perfetto_next(p, &spec))
			if (spec.field == 1 && spec.type == PROTO_VARINT)
				number = spec.u;
			else if (spec.field == 2 && spec.type == PROTO_BYTES)
				name = perfetto_text(p, spec.bytes);
		*map_put(&set->names, number, NULL) = name;
	}
}

/* {1: iid, 2: descriptor, 3: gpu_id} */
bool
gpu_intern_counters(struct perfetto *p, struct sequence *q, struct str bytes)
{
	struct gpu_counters set = { .gpu = 0 }, *known;
	uint64_t iid = 0;
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m)) {
		if (m.field == 1) {
			iid = m.u;
		} else if (m.field == 2 && m.type == PROTO_BYTES) {
			describe_counters(p, m.bytes, &set);
		} else if (m.field == 3) {
			set.gpu = (int64_t)m.u;
			set.has_gpu = true;
		}
	}
	known = counters_of(&q->counters, iid);
	map_free(&known->names);
	*known = set;
	return p->fault == NULL;
}

/* {1: counter_id, 2: int_value, 3: double_value} */
static void
write_gpu_counter(struct perfetto *p, const struct gpu_counters *set,
    struct str bytes, int64_t ts_ns)
{
	struct whose whose = { .tid = set->gpu };
	struct open_slice o = { .category = NO_NAME, .ts_ns = ts_ns };
	uint64_t number = 0;
	const uint64_t *name;
	int64_t whole = 0;
	double real = 0;
	bool is_real = false, has_value = false;
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m)) {
		if (m.field == 1) {
			number = m.u;
		} else if (m.field == 2 && m.type == PROTO_VARINT) {
			whole = (int64_t)m.u;
			has_value = true;
		} else if (m.field == 3 && m.type == PROTO_FIXED64) {
			real = proto_double(m.u);
			has_value = is_real = true;
		}
	}
	name = map_get(&set->names, number);
	if (!has_value || name == NULL) {
		p->ndropped++;
		return;
	}
	o.name = (uint32_t)*name;
	if (set->has_gpu)
		args_int(&o.args, KEY_DEVICE, set->gpu);
	write_counter(p, &o, &whose, is_real ? &real : NULL, whole);
	args_free(&o.args);
}

/*
 * GpuCounterEvent {1: descriptor, 4: descriptor_iid, 2: counters, 3: gpu_id}; a
 * descriptor holds for all events of its GPU.
 */
bool
gpu_counters(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns)
{
	struct gpu_counters *set = NULL;
	struct str descriptor = { "", 0 };
	uint64_t gpu = 0, iid = 0;
	bool has_gpu = false;
	struct fields m = fields_of(bytes);

	while (perfetto_next(p, &m)) {
		if (m.field == 1 && m.type == PROTO_BYTES)
			descriptor = m.bytes;
		else if (m.field == 4)
			iid = m.u;
		else if (m.field == 3)
			gpu = m.u;
		has_gpu |= m.field == 3;
	}
	set = iid != 0 ? counters_of(&q->counters, iid)
		       : counters_of(&p->counters, gpu);
	if (descriptor.len > 0)
		describe_counters(p, descriptor, set);
	if (has_gpu && !set->has_gpu) {
		set->gpu = (int64_t)gpu;
		set->has_gpu = true;
	}
	m = fields_of(bytes);
	while (perfetto_next(p, &m))
		if (m.field == 2 && m.type == PROTO_BYTES)
			write_gpu_counter(p, set, m.bytes, ts_ns);
	return p->fault == NULL;
}
