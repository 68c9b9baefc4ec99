/* SPDX-License-Identifier: MIT */
/*
 * Work on the GPU as PyTorch's profiler writes it: render stages, of which the
 * stage says what they are, and counters of a GPU.
 */
#include "cmd/tl-decode/perfetto/perfetto.h"

/* A GpuRenderStageEvent's fields. */
struct stage {
	uint64_t lane, stage, context, kernel, name_iid;
	uint64_t dur;
	int64_t gpu;
	bool has_gpu, has_context, has_kernel;
	struct str name;
	struct buf args;
	struct buf waits;
};

/* ---- what a launch says ---- */

/* {1, 2, 3: x, y, z} as [x,y,z] */
static void
add_dims(struct perfetto *p, struct str key, struct str bytes, struct buf *args)
{
	uint64_t d[3] = { 1, 1, 1 };
	struct buf text = { 0 };
	struct proto m;

	proto_start(&m, bytes.p, bytes.len);
	while (perfetto_next(p, &m))
		if (m.field >= 1 && m.field <= 3 && m.type == PROTO_VARINT)
			d[m.field - 1] = m.u;
	buf_printf(
	    &text, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", d[0], d[1], d[2]);
	args_add_text(p, key, VAL_JSON, buf_str(&text), args);
	buf_free(&text);
}

/* A named value of a launch: as a debug annotation, with other numbers:
 * {1: name_iid, 2: name, 3: int, 4: uint, 5: double, 6: string} */
static void
add_launch_arg(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct buf *args)
{
	static const struct str registers = STR_INIT("registers_per_thread");
	struct str name = STR("");
	struct value v = { .type = VAL_NULL };
	struct proto m;
	uint32_t text;

	proto_start(&m, bytes.p, bytes.len);
	while (perfetto_next(p, &m)) {
		switch (m.field) {
		case 1:
			text = sequence_name(q, NAMES_ARG, m.u);
			if (text != NO_NAME)
				name = intern_get(p->texts, text);
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
		args_add_int(p, name, v.i, args);
	else if (v.type == VAL_STR)
		args_add_text(p, name, VAL_STR, v.s, args);
}

/* {1: grid_size, 2: workgroup_size, 3: args} */
static void
read_launch(struct perfetto *p, const struct sequence *q, struct str bytes,
    struct buf *args)
{
	struct proto m;

	proto_start(&m, bytes.p, bytes.len);
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

/* {1: name, 2: value}, always text: numbers as such */
static void
read_extra(struct perfetto *p, struct str bytes, struct buf *args)
{
	static const struct {
		struct str from, to;
	} names[] = { { STR_INIT("stream id"), STR_INIT("stream") } };
	struct str name = STR(""), text = STR("");
	struct proto m;
	int64_t i;

	proto_start(&m, bytes.p, bytes.len);
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
		args_add_int(p, name, i, args);
	else
		args_add_text(p, name, VAL_STR, text, args);
}

/* ---- stages ---- */

static void
read_stage_field(struct perfetto *p, const struct sequence *q,
    const struct proto *m, struct stage *s)
{
	bool is_text = m->type == PROTO_BYTES;
	struct proto_numbers it;
	uint64_t u;

	switch (m->field) {
	case 2: s->dur = m->u; break;
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
	uint32_t text = sequence_name(q, what, iid);

	return text != NO_NAME ? intern_get(p->texts, text) : STR("");
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
	int64_t end;

	if (s->has_gpu)
		args_add_int(p, STR("device"), s->gpu, &o.args);
	if (s->waits.len > 0) {
		buf_putc(&s->waits, ']');
		args_add_text(
		    p, STR("waits"), VAL_JSON, buf_str(&s->waits), &o.args);
	}
	end =
	    s->dur <= (uint64_t)DECODE_MAX_NS ? ts_ns + (int64_t)s->dur : ts_ns;
	write_span(p, &o, &whose, kind_of_stage(stage), stage, &end, NULL);
	s->args = o.args;
}

bool
gpu_stage(
    struct perfetto *p, struct sequence *q, struct str bytes, int64_t ts_ns)
{
	struct stage s = { .name = STR("") };
	struct proto m;

	proto_start(&m, bytes.p, bytes.len);
	while (perfetto_next(p, &m))
		read_stage_field(p, q, &m, &s);
	if (p->fault == NULL)
		write_stage(p, q, &s, ts_ns);
	buf_free(&s.args);
	buf_free(&s.waits);
	return p->fault == NULL;
}
