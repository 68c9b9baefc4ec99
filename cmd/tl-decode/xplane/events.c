/* SPDX-License-Identifier: MIT */
/* Events of lines, and names of processes and threads. */
#include "cmd/tl-decode/xplane/xplane.h"

/* The events of a line, by plane and name. */
enum line_kind {
	LINE_OTHER,
	LINE_GPU,   /* of a GPU stream */
	LINE_TPU,   /* a TPU's work */
	LINE_SPANS, /* modules, steps */
	LINE_HOST,
};

struct track_at {
	int64_t tid, start_ns, gpu_stream;
	enum line_kind kind;
	bool has_gpu_stream;
	struct str name;
	uint32_t track; /* INTERN_NONE: not yet */
};

struct xevent {
	int64_t offset_ps, dur_ps;
	bool is_counted; /* aggregated events, without time */
	uint64_t meta, occurrences;
};

/* ---- lines ---- */

static bool
stream_number(struct str name, int64_t *n)
{
	static const struct str head = STR_INIT("Stream #");
	size_t len = 0;

	if (!str_starts(name, head))
		return false;
	name.p += head.len;
	name.len -= head.len;
	while (len < name.len && name.p[len] >= '0' && name.p[len] <= '9')
		len++;
	name.len = len;
	return num_i64(name, n);
}

static enum line_kind
kind_of_line(const struct plane *p, struct str name)
{
	switch (p->kind) {
	case PLANE_GPU:
		return name.len == 0 || str_starts(name, STR("Stream"))
		    ? LINE_GPU
		    : LINE_SPANS;
	case PLANE_TPU:
		if (str_eq(name, STR("XLA Ops")) ||
		    str_eq(name, STR("Async XLA Ops")))
			return LINE_TPU;
		return str_eq(name, STR("XLA Modules")) ||
			str_eq(name, STR("Steps"))
		    ? LINE_SPANS
		    : LINE_OTHER;
	case PLANE_HOST:
	case PLANE_MODULES: return LINE_HOST;
	default: return LINE_OTHER;
	}
}

/*
 * XLine {1: id, 2: name, 3: timestamp_ns, 10: display_id, 11: display_name},
 * partly after the events.
 */
static struct track_at
read_line(struct xplane *x, const struct plane *p, struct str line)
{
	struct fields m = fields_of(line);
	struct track_at t = { .name = STR(""), .track = INTERN_NONE };
	struct str display = STR("");
	uint64_t id = 0, display_id = 0;

	while (fields_next(&m)) {
		if (m.field == 1 && m.type == PROTO_VARINT)
			id = m.u;
		else if (m.field == 2 && m.type == PROTO_BYTES)
			t.name = m.bytes;
		else if (m.field == 3 && m.type == PROTO_VARINT)
			t.start_ns = (int64_t)m.u;
		else if (m.field == 10 && m.type == PROTO_VARINT)
			display_id = m.u;
		else if (m.field == 11 && m.type == PROTO_BYTES)
			display = m.bytes;
		xplane_pass(x, m.p);
	}
	t.kind = kind_of_line(p, t.name);
	t.has_gpu_stream = t.kind == LINE_GPU || t.kind == LINE_TPU;
	if (t.kind != LINE_GPU || !stream_number(t.name, &t.gpu_stream))
		t.gpu_stream = (int64_t)id;
	t.tid = (int64_t)(uint32_t)(display_id != 0 ? display_id : id);
	if (display.len > 0)
		t.name = display;
	return t;
}

/* ---- times ---- */

/* Rounded to ns, halves up. */
static int64_t
ns_of_ps(int64_t ps)
{
	int64_t ns = ps / 1000, rest = ps % 1000;

	return ns + (rest >= 500) - (rest < -500);
}

/* Start and end are rounded, not the duration. False: no time. */
static bool
times_of(struct xplane *x, const struct track_at *t, const struct xevent *e,
    int64_t *start_ns, int64_t *end_ns)
{
	int64_t end_ps;

	if (e->is_counted || !source_is_time(t->start_ns) ||
	    !num_add(e->offset_ps, e->dur_ps, &end_ps))
		return false;
	*start_ns = t->start_ns + ns_of_ps(e->offset_ps);
	*end_ns = t->start_ns + ns_of_ps(end_ps);
	if (!source_is_time(*start_ns) || !source_is_time(*end_ns))
		return false;
	*start_ns = source_time(x->s, *start_ns);
	*end_ns = source_time(x->s, *end_ns);
	return true;
}

/* XEvent {1: metadata_id, 2: offset_ps, 3: duration_ps, 4: stats,
 * 5: num_occurrences} */
static struct xevent
read_event(struct xplane *x, struct plane *p, struct str bytes)
{
	struct fields m = fields_of(bytes);
	struct xevent e = { .dur_ps = 0 };

	while (xplane_next(x, &m)) {
		if (m.field == 4 && m.type == PROTO_BYTES)
			stats_add(x, p, m.bytes);
		if (m.type != PROTO_VARINT)
			continue;
		switch (m.field) {
		case 1: e.meta = m.u; break;
		case 2:
			e.offset_ps = (int64_t)m.u;
			e.is_counted = false;
			break;
		case 3: e.dur_ps = (int64_t)m.u; break;
		case 5:
			e.occurrences = m.u;
			e.is_counted = true;
			break;
		default: break;
		}
	}
	return e;
}

static uint64_t
meta_id(struct str bytes)
{
	struct fields m = fields_of(bytes);

	while (fields_next(&m))
		if (m.field == 1 && m.type == PROTO_VARINT)
			return m.u;
	return 0;
}

/*
 * The metadata's stats come first; of several metadata_ids the last counts, as
 * always in protobuf.
 */
static struct xevent
read_all(struct xplane *x, struct plane *p, struct str bytes,
    struct event_meta **meta)
{
	struct xevent e = { .meta = meta_id(bytes) };
	uint64_t id;

	do {
		struct fields m;

		id = e.meta;
		*meta = event_meta_of(x, p, id);
		m = fields_of((*meta)->bytes);
		stats_start(x);
		while ((*meta)->has_stats && xplane_next(x, &m))
			if (m.field == 5 && m.type == PROTO_BYTES)
				stats_add(x, p, m.bytes);
		x->nshared = x->stats.n;
		e = read_event(x, p, bytes);
	} while (e.meta != id);
	return e;
}

/* ---- runs of modules on TPUs ---- */

static uint64_t
flow_of(struct xplane *x, enum stat_is number, enum stat_is type,
    uint64_t *flow_type)
{
	uint64_t flow;

	return stats_int(x, number, &flow) && stats_int(x, type, flow_type)
	    ? flow
	    : 0;
}

static int
run_order(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void
read_runs(struct xplane *x, struct plane *p, struct str line)
{
	struct track_at t = read_line(x, p, line);
	struct fields m = fields_of(line);

	while (str_eq(t.name, STR("XLA Modules")) && fields_next(&m)) {
		struct event_meta *meta;
		struct run run;
		struct xevent e;
		uint64_t type;

		if (m.field != 4 || m.type != PROTO_BYTES)
			continue;
		e = read_all(x, p, m.bytes, &meta);
		if (!times_of(x, &t, &e, &run.start_ns, &run.end_ns))
			continue;
		run.flow = flow_of(x, STAT_CONSUMER, STAT_CONSUMER_TYPE, &type);
		vec_push(&p->runs, run);
		if (run.flow != 0)
			*map_put(&x->flows, run.flow, NULL) = type + 1;
	}
}

void
runs_read(struct xplane *x)
{
	for (size_t i = 0; i < x->planes.n; i++) {
		struct plane *p = &x->planes.v[i];

		for (size_t k = 0; p->kind == PLANE_TPU && k < p->lines.n; k++)
			read_runs(x, p, p->lines.v[k]);
		if (p->runs.n > 0)
			stable_sort(
			    p->runs.v, p->runs.n, sizeof *p->runs.v, run_order);
	}
}

/* Flow of the module's run around an op on a TPU; 0: none. */
static uint64_t
flow_at(const struct plane *p, int64_t ns)
{
	size_t at;

	bisect(at, p->runs.n, mid, p->runs.v[mid].start_ns <= ns);
	return at > 0 && ns <= p->runs.v[at - 1].end_ns ? p->runs.v[at - 1].flow
							: 0;
}

/* ---- kinds ---- */

struct sort {
	enum kind kind;
	struct str cat;
	char phase;
};

static struct sort
sort_of_kind(enum kind kind)
{
	static const struct str cats[KIND_COUNT] = {
		[KIND_OP] = STR_INIT("cpu_op"),
		[KIND_RUNTIME] = STR_INIT("cuda_runtime"),
		[KIND_PYTHON] = STR_INIT("python_function"),
		[KIND_ANNOTATION] = STR_INIT("user_annotation"),
		[KIND_KERNEL] = STR_INIT("kernel"),
		[KIND_MEMCPY] = STR_INIT("gpu_memcpy"),
		[KIND_MEMSET] = STR_INIT("gpu_memset"),
		[KIND_GPU_ANNOTATION] = STR_INIT("gpu_user_annotation"),
		[KIND_MEMORY] = STR_INIT("cpu_instant_event"),
		[KIND_INSTANT] = STR_INIT(""),
		[KIND_SLICE] = STR_INIT(""),
	};

	return (struct sort){ kind, cats[kind],
		kind == KIND_MEMORY || kind == KIND_INSTANT ? 'i' : 'X' };
}

/*
 * A launch refers to its GPU work by correlation, or by flow to a module's run
 * on a TPU.
 */
static bool
is_launch(struct xplane *x, uint64_t *flow)
{
	const uint64_t *type_of_run;
	uint64_t type, correlation;

	*flow = flow_of(x, STAT_PRODUCER, STAT_PRODUCER_TYPE, &type);
	type_of_run = *flow != 0 ? map_get(&x->flows, *flow) : NULL;
	if (type_of_run == NULL || *type_of_run != type + 1)
		*flow = 0;
	return *flow != 0 ||
	    (stats_int(x, STAT_CORRELATION, &correlation) && correlation != 0);
}

static enum kind
host_kind(struct xplane *x, const struct event_meta *meta,
    const struct xevent *e, uint64_t *flow)
{
	if (meta->host == HOST_ALLOCATION || meta->host == HOST_FREE)
		return KIND_MEMORY;
	if (is_launch(x, flow))
		return KIND_RUNTIME;
	if (meta->is_missing)
		return KIND_SLICE;
	if (meta->host == HOST_PYTHON)
		return KIND_PYTHON;
	if (stats_find(x, STAT_STEP) != NULL)
		return KIND_ANNOTATION;
	return e->dur_ps == 0 && !e->is_counted ? KIND_INSTANT : KIND_OP;
}

static enum kind
tpu_kind(struct xplane *x, const struct plane *p)
{
	const struct stat *st = stats_find(x, STAT_CATEGORY);
	struct str category = st != NULL ? stat_text(p, st) : STR("");

	return str_eq(category, STR("copy-start")) ||
		str_eq(category, STR("copy-done"))
	    ? KIND_MEMCPY
	    : KIND_KERNEL;
}

/* ---- an event ---- */

/* %NAME = SHAPE opcode(...), a TPU event's name. */
static struct str
instruction_in(struct str text)
{
	const char *end;

	if (text.len == 0 || text.p[0] != '%')
		return STR("");
	end = memchr(text.p, ' ', text.len);
	return (struct str){ text.p + 1,
		(size_t)((end != NULL ? end : text.p + text.len) - text.p -
		    1) };
}

static void
name_event(struct xplane *x, struct plane *p, struct event_meta *meta)
{
	const struct stat *step = stats_find(x, STAT_STEP_NAME);

	if (step != NULL && stat_text(p, step).len > 0) {
		maker_name_id(
		    &x->maker, shared_text(x, p, stat_text(p, step), false));
		return;
	}
	if (meta->text == INTERN_NONE)
		meta->text = xplane_intern(x, event_meta_name(meta));
	maker_name_id(&x->maker, meta->text);
}

static void
put_track(struct xplane *x, const struct plane *p, struct track_at *t)
{
	if (t->track == INTERN_NONE)
		t->track = maker_track(&x->maker, x->s->src, &p->pid, &t->tid);
	else
		maker_on_track(&x->maker, t->track);
}

static bool
program_of(struct xplane *x, const struct plane *p, uint64_t *program)
{
	const struct stat *module = stats_find(x, STAT_MODULE);

	return stats_int(x, STAT_PROGRAM, program) ||
	    (module != NULL && stat_text(p, module).len <= STREAM_INTERN_MAX &&
		modules_find(x, stat_text(p, module), program));
}

/* A text of the metadata. */
static void
put_shared(struct xplane *x, struct plane *p, const char *key, struct str text)
{
	maker_entry_number(&x->maker, intern_put(x->s->dict->text, str_of(key)),
	    VAL_STR, GROUP_ARGS, ROLE_NONE, shared_text(x, p, text, false));
}

/* The instruction it ran. */
static void
put_instruction(struct xplane *x, struct plane *p,
    const struct event_meta *meta, const struct track_at *t)
{
	const struct stat *op = stats_find(x, STAT_INSTRUCTION);
	struct str name = op != NULL ? stat_text(p, op) : STR("");
	struct str text = STR(""), in_text = STR("");
	uint64_t program;

	if (t->kind == LINE_TPU) {
		text = meta->name;
		in_text = instruction_in(text);
		if (in_text.len == 0)
			in_text = event_meta_name(meta);
	}
	if (in_text.len > 0 && !str_eq(in_text, name)) {
		name = in_text;
		put_shared(x, p, "hlo_op", name);
	}
	if (name.len > 0 && name.len <= STREAM_INTERN_MAX &&
	    program_of(x, p, &program))
		hlo_name(x->hlo, program, name, text);
}

static void
put_args(struct xplane *x, struct plane *p, const struct event_meta *meta,
    const struct track_at *t, const struct xevent *e)
{
	uint64_t bytes;

	if (t->has_gpu_stream) {
		if (p->dev >= 0)
			maker_int(&x->maker, STR("device"), p->dev, ROLE_DEV);
		maker_int(
		    &x->maker, STR("stream"), t->gpu_stream, ROLE_GPU_STREAM);
	}
	if (meta->display.len > 0 && meta->name.len > 0)
		put_shared(x, p, "long_name", meta->name);
	if (meta->is_missing)
		maker_int(&x->maker, STR("metadata_id"), (int64_t)meta->id,
		    ROLE_NONE);
	if (e->is_counted)
		maker_int(&x->maker, STR("num_occurrences"),
		    (int64_t)e->occurrences, ROLE_NONE);
	if (meta->host >= HOST_ALLOCATION &&
	    stats_int(x, STAT_ALLOCATED, &bytes) && bytes <= INT64_MAX)
		maker_int(&x->maker, STR("Bytes"),
		    meta->host == HOST_FREE ? -(int64_t)bytes : (int64_t)bytes,
		    ROLE_NONE);
	stats_put(x, p);
	put_instruction(x, p, meta, t);
}

/* Plane or metadata, which would tell the kind, are missing. */
static bool
is_unknown(const struct plane *p, const struct track_at *t,
    const struct event_meta *meta, enum kind kind)
{
	return t->kind == LINE_HOST ? kind == KIND_SLICE && meta->is_missing
				    : p->name.len == 0;
}

static void
write_event(
    struct xplane *x, struct plane *p, struct track_at *t, struct str bytes)
{
	struct event_meta *meta;
	struct xevent e = read_all(x, p, bytes, &meta);
	int64_t start_ns, end_ns;
	uint64_t flow = 0;
	struct sort sort;
	enum kind kind = KIND_SLICE;

	switch (t->kind) {
	case LINE_GPU: kind = (enum kind)meta->work; break;
	case LINE_TPU: kind = tpu_kind(x, p); break;
	case LINE_SPANS: kind = KIND_GPU_ANNOTATION; break;
	case LINE_HOST: kind = host_kind(x, meta, &e, &flow); break;
	case LINE_OTHER: break;
	}
	if (is_unknown(p, t, meta, kind))
		x->s->skipped[SKIP_CATEGORY]++;
	sort = sort_of_kind(kind);
	maker_begin_phase(&x->maker, sort.kind, sort.cat, sort.phase);
	name_event(x, p, meta);
	put_track(x, p, t);
	if (times_of(x, t, &e, &start_ns, &end_ns)) {
		maker_start(&x->maker, start_ns);
		if (t->kind == LINE_TPU)
			flow = flow_at(p, start_ns);
		if (sort.phase == 'X')
			maker_dur(&x->maker,
			    end_ns > start_ns ? end_ns - start_ns : 0,
			    e.dur_ps < 0 ? EV_CLAMPED : 0);
	}
	if (flow != 0)
		maker_corr(&x->maker, (int64_t)flow);
	put_args(x, p, meta, t, &e);
	if (source_write(x->s, &x->maker)) {
		t->track = INTERN_NONE;
		plane_forget(p);
	}
}

/* ---- lines and planes ---- */

static void
write_line(struct xplane *x, struct plane *p, struct str line)
{
	struct track_at t = read_line(x, p, line);
	struct fields m = fields_of(line);
	bool has_events = false;

	while (xplane_next(x, &m)) {
		if (m.field != 4 || m.type != PROTO_BYTES)
			continue;
		write_event(x, p, &t, m.bytes);
		has_events = true;
		xplane_pass(x, m.p);
		if (progress_due)
			progress_show(
			    (uint64_t)(m.p - x->bytes), in_size(x->in));
	}
	if (has_events && t.name.len > 0)
		vec_push(&x->names,
		    ((struct track_name){ p->pid, t.tid, true, t.name }));
	p->has_events |= has_events;
}

static void
write_name(struct xplane *x, const struct track_name *n)
{
	maker_begin_phase(&x->maker, KIND_META, STR(""), 'M');
	maker_name(
	    &x->maker, n->is_thread ? STR("thread_name") : STR("process_name"));
	maker_track(
	    &x->maker, x->s->src, &n->pid, n->is_thread ? &n->tid : NULL);
	x->text.len = 0;
	if (!n->is_thread && x->hostname.len > 0)
		buf_printf(
		    &x->text, "%.*s ", (int)x->hostname.len, x->hostname.p);
	buf_put(&x->text, n->name.p, n->name.len);
	maker_str(&x->maker, STR("name"), xplane_utf8(x, buf_str(&x->text)));
	(void)source_write(x->s, &x->maker);
	xplane_pass(x, (const unsigned char *)n->name.p);
}

/* Names come last: an event's id is its place in the file. */
void
events_read(struct xplane *x)
{
	for (size_t i = 0; i < x->planes.n; i++) {
		struct plane *p = &x->planes.v[i];

		plane_forget(p);
		for (size_t k = 0; k < p->lines.n; k++)
			write_line(x, p, p->lines.v[k]);
		if (p->has_events)
			vec_push(&x->names,
			    ((struct track_name){ p->pid, 0, false, p->name }));
	}
	for (size_t i = 0; i < x->names.n; i++)
		write_name(x, &x->names.v[i]);
}
