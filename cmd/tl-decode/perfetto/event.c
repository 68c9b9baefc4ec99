/* SPDX-License-Identifier: MIT */
/* Slices, points and counters as events. */
#include "cmd/tl-decode/perfetto/chain.h"
#include "cmd/tl-decode/perfetto/perfetto.h"

/* The kind by annotations, without categories. */
static enum kind
kind_of_args(const struct perfetto *p, const struct open_slice *o)
{
	struct str name = perfetto_name(p, o->name);
	int64_t i;

	if (args_find(&o->args, KEY_SYNC_KIND) != NULL)
		return KIND_SYNC;
	if (args_get_int(&o->args, KEY_CBID, &i))
		return str_starts(name, STR("cuda")) ? KIND_RUNTIME
						     : KIND_DRIVER;
	if (args_get_int(&o->args, KEY_DEVICE, &i) &&
	    args_get_int(&o->args, KEY_STREAM, &i))
		return str_starts(name, STR("Memcpy")) ? KIND_MEMCPY
		    : str_starts(name, STR("Memset"))  ? KIND_MEMSET
						       : KIND_KERNEL;
	if (args_find(&o->args, KEY_PYTHON_ID) != NULL)
		return KIND_PYTHON;
	return args_get_int(&o->args, KEY_EXTERNAL_ID, &i) ? KIND_OP
							   : KIND_SLICE;
}

/* Categories are few, and mostly the last one repeats. */
static enum kind
kind_of(struct perfetto *p, const struct open_slice *o)
{
	if (o->category == NO_NAME)
		return kind_of_args(p, o);
	if (o->category != p->last_category) {
		p->last_category = o->category;
		p->last_kind = KIND_SLICE;
		(void)category_kind(
		    perfetto_name(p, o->category), &p->last_kind);
	}
	return p->last_kind;
}

/* "Agent-2", "GPU-0" or 2 */
static bool
agent_number(const struct value *v, int64_t *n)
{
	struct str s = v->s;

	if (v->type == VAL_INT) {
		*n = v->i;
		return true;
	}
	if (v->type != VAL_STR)
		return false;
	for (size_t i = s.len; i-- > 0;)
		if (s.p[i] == '-')
			return num_i64(
			    (struct str){ s.p + i + 1, s.len - i - 1 }, n);
	return false;
}

/*
 * The annotation with the GPU: a copy's is the one it writes to, else the one
 * it reads from.
 */
static uint32_t
agent_key(const struct perfetto *p, const struct open_slice *o, enum kind kind)
{
	if (kind == KIND_KERNEL)
		return KEY_AGENT;
	if (kind != KIND_MEMCPY)
		return NO_NAME;
	return str_find(perfetto_name(p, o->name), STR("TO_HOST"), false) >= 0
	    ? KEY_SRC_AGENT
	    : KEY_DST_AGENT;
}

/* "512 (x=64, y=8, z=1)" of rocpd's converter, for a product. */
static bool
dims_of(const struct perfetto *p, const struct args *args, enum key_number key,
    int64_t dims[3])
{
	static const struct str names[] = { STR_INIT("x="), STR_INIT("y="),
		STR_INIT("z=") };
	const struct arg *a = args_find(args, key);
	struct value v;

	if (a == NULL)
		return false;
	v = args_value(p, args, a);
	for (size_t i = 0; i < 3; i++) {
		ptrdiff_t at =
		    v.type == VAL_STR ? str_find(v.s, names[i], false) : -1;
		struct str part;

		if (at < 0)
			return false;
		part = (struct str){ v.s.p + at + 2, 0 };
		while (part.p + part.len < v.s.p + v.s.len &&
		    part.p[part.len] >= '0' && part.p[part.len] <= '9')
			part.len++;
		if (!num_i64(part, &dims[i]))
			return false;
	}
	return true;
}

static void
put_dims(struct perfetto *p, struct str key, const int64_t dims[3])
{
	p->text.len = 0;
	buf_printf(&p->text, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", dims[0],
	    dims[1], dims[2]);
	maker_json(&p->maker, key, buf_str(&p->text));
}

static void
put_launch(struct perfetto *p, const struct args *args)
{
	int64_t grid[3], block[3];

	if (args_find(args, KEY_BLOCK) == NULL ||
	    !dims_of(p, args, KEY_BLOCK, block))
		return;
	put_dims(p, STR("block"), block);
	if (!dims_of(p, args, KEY_GRID, grid))
		return;
	for (int i = 0; i < 3; i++)
		grid[i] = decode_blocks(grid[i], block[i]);
	put_dims(p, STR("grid"), grid);
}

/* A text that is no string of the stream yet. */
static uint32_t
new_dict_text(struct perfetto *p, uint32_t text)
{
	while (p->dict_ids.n <= text)
		vec_push(&p->dict_ids, INTERN_NONE);
	p->dict_ids.v[text] =
	    intern_put(p->maker.st->text, intern_get(p->texts, text));
	return p->dict_ids.v[text];
}

static inline uint32_t
text_among(const uint32_t *ids, size_t n, uint32_t text)
{
	return text < n ? ids[text] : INTERN_NONE;
}

/* A text's number in the stream's strings. */
static inline uint32_t
dict_text(struct perfetto *p, uint32_t text)
{
	uint32_t id = text_among(p->dict_ids.v, p->dict_ids.n, text);

	return LIKELY(id != INTERN_NONE) ? id : new_dict_text(p, text);
}

static inline enum role
role_of(const struct arg *a)
{
	return a->group == GROUP_ARGS
	    ? args_role(a->key, (enum value_type)a->type)
	    : ROLE_NONE;
}

/* Values other than integers and texts by number. */
static void
put_odd(struct perfetto *p, const struct args *args, const struct arg *a)
{
	struct entry entry = { .group = a->group };
	struct value v = args_value(p, args, a);

	value_store(p->maker.st, &v);
	entry.key = dict_text(p, a->key);
	entry.type = (uint8_t)v.type;
	entry.role = (uint8_t)role_of(a);
	maker_entry(&p->maker, &entry, &v);
}

/*
 * Puts arguments from a to end, up to the agent; returns where it stopped.
 * Writing bytes may alias any field, so the loop reads local variables only.
 */
static const struct arg *
put_usual(struct perfetto *p, const struct arg *a, const struct arg *end,
    uint32_t agent)
{
	struct maker_run run = maker_run(&p->maker, (size_t)(end - a));
	const uint32_t *ids = p->dict_ids.v;
	size_t nids = p->dict_ids.n;

	while (a < end) {
		uint32_t key = text_among(ids, nids, a->key);
		uint64_t number = zigzag(a->i);

		if (a->is_name)
			number = text_among(ids, nids, (uint32_t)a->i);
		else if (a->type != VAL_INT)
			break;
		if (UNLIKELY(key == INTERN_NONE ||
			(a->is_name && number == INTERN_NONE))) {
			if (a->is_name)
				number = dict_text(p, (uint32_t)a->i);
			key = dict_text(p, a->key);
			ids = p->dict_ids.v;
			nids = p->dict_ids.n;
		}
		maker_run_put(&run, key, (enum value_type)a->type,
		    (enum group)a->group, role_of(a), number);
		if (UNLIKELY(a++->key == agent))
			break;
	}
	maker_run_end(&p->maker, &run);
	return a;
}

static void
put_device(struct perfetto *p, const struct args *args, const struct arg *agent)
{
	struct value v = args_value(p, args, agent);
	int64_t dev;

	if (agent_number(&v, &dev))
		maker_int(&p->maker, STR("device"), dev, ROLE_DEV);
}

static void
put_args(struct perfetto *p, const struct args *args, uint32_t agent)
{
	/* room for a device and dimensions */
	const size_t max = SHAPE_MAX_ENTRIES - 8;
	const struct arg *at = args->list.v;
	const struct arg *end = args->list.n > 0 ? at + args->list.n : at;

	while (at < end) {
		size_t n = p->maker.entries.n, left = (size_t)(end - at);
		const struct arg *from = at;

		if (n >= max) {
			(void)perfetto_fault(
			    p, "an event has too many annotations");
			return;
		}
		at = put_usual(
		    p, at, max - n < left ? at + (max - n) : end, agent);
		if (at == from)
			put_odd(p, args, at++);
		if (at[-1].key == agent)
			put_device(p, args, &at[-1]);
	}
	put_launch(p, args);
}

/* A bit per known key. */
static inline uint32_t
known_keys(const struct args *args)
{
	return args->known | (args->chain != NULL ? args->chain->known : 0);
}

/* Device and stream by track, for GPU work without its own. */
static void
put_row(struct perfetto *p, const struct args *args, const struct whose *w)
{
	const uint32_t devices = UINT32_C(1) << KEY_DEVICE |
	    UINT32_C(1) << KEY_AGENT | UINT32_C(1) << KEY_SRC_AGENT |
	    UINT32_C(1) << KEY_DST_AGENT;
	const uint32_t streams = UINT32_C(1) << KEY_STREAM |
	    UINT32_C(1) << KEY_STREAM_ID | UINT32_C(1) << KEY_STREAM_ID_ROCPD;
	uint32_t known = known_keys(args);

	if (w->has_dev && (known & devices) == 0)
		maker_int(&p->maker, STR("device"), w->dev, ROLE_DEV);
	if (w->has_stream && (known & streams) == 0)
		maker_int(
		    &p->maker, STR("stream"), w->gpu_stream, ROLE_GPU_STREAM);
}

/* The first of a list of ids as text; such an annotation may hold anything. */
static bool
first_flow(const struct perfetto *p, const struct args *args, uint64_t *id)
{
	const struct arg *flows = args_find(args, KEY_FLOW_IDS);
	struct str s;
	const char *end;

	if (flows == NULL || flows->type != VAL_JSON)
		return false;
	s = args_value(p, args, flows).s;
	if (!str_starts(s, STR("[\"")))
		return false;
	s = (struct str){ s.p + 2, s.len - 2 };
	end = memchr(s.p, '"', s.len);
	return end != NULL &&
	    num_u64((struct str){ s.p, (size_t)(end - s.p) }, id);
}

/* Keys that link launches and GPU work. */
#define KEYS_CORR                                                             \
	(UINT32_C(1) << KEY_CORRELATION | UINT32_C(1) << KEY_CORRELATION_ID | \
	    UINT32_C(1) << KEY_CORR_ID)

/* Links a launch and its work by flow, without other ids. */
static void
put_flow(struct perfetto *p, const struct args *args, enum kind kind)
{
	uint64_t id;

	if ((KIND_BIT(kind) & (KINDS_LAUNCH | KINDS_GPU)) != 0 &&
	    (known_keys(args) & KEYS_CORR) == 0 && first_flow(p, args, &id))
		maker_corr(&p->maker, (int64_t)id);
}

static void
begin_event(struct perfetto *p, const struct open_slice *o, struct whose *whose,
    enum kind kind, uint32_t cat)
{
	int64_t tid = whose->tid;
	/* rocprofv3's worker threads and GPUs are no threads */
	bool has_tid =
	    args_get_int(&o->args, KEY_TID, &tid) || !whose->is_process;

	maker_begin_cat(&p->maker, kind,
	    dict_text(p, cat != NO_NAME ? cat : KEY_NONE_GIVEN));
	if (o->name != NO_NAME)
		maker_name_id(&p->maker, dict_text(p, o->name));
	if (whose->has_track && whose->track_tid == tid &&
	    whose->track_has_tid == has_tid) {
		maker_on_track(&p->maker, whose->track);
	} else {
		whose->track = maker_track(&p->maker, p->s->src,
		    whose->has_pid ? &whose->pid : NULL, has_tid ? &tid : NULL);
		whose->track_tid = tid;
		whose->track_has_tid = has_tid;
		whose->has_track = true;
		whose->is_own_track =
		    tid == whose->tid && has_tid != whose->is_process;
	}
	maker_start(&p->maker, source_time(p->s, o->ts_ns));
}

/* After the stream's strings were cleared. */
static __attribute__((noinline)) void
forget_strings(struct perfetto *p)
{
	chain_forget(p);
	p->dict_ids.n = 0;
	p->ntold++;
}

/* False: strings were cleared. */
static bool
end_event(struct perfetto *p)
{
	if (LIKELY(!source_write(p->s, &p->maker)))
		return true;
	forget_strings(p);
	return false;
}

bool
write_span(struct perfetto *p, const struct open_slice *o, struct whose *whose,
    enum kind kind, uint32_t cat, const int64_t *end_ns,
    const struct args *more_args)
{
	uint32_t agent = agent_key(p, o, kind);
	bool is_clamped = end_ns != NULL && *end_ns < o->ts_ns;

	begin_event(p, o, whose, kind, cat);
	if (end_ns != NULL)
		maker_dur(&p->maker, is_clamped ? 0 : *end_ns - o->ts_ns,
		    is_clamped ? EV_CLAMPED : 0);
	put_flow(p, &o->args, kind);
	if ((KIND_BIT(kind) & KINDS_GPU) != 0)
		put_row(p, &o->args, whose);
	if (o->args.chain != NULL)
		maker_entries(&p->maker, o->args.chain->entries,
		    o->args.chain->nentries,
		    (struct str){ o->args.text.p, o->args.chain_len });
	put_args(p, &o->args, agent);
	if (more_args != NULL)
		put_args(p, more_args, agent);
	return end_event(p);
}

/* ---- usual slices ---- */

/* Fields of a plain slice. */
#define HAS_USUAL (HAS_TRACK | HAS_TS | HAS_DUR | HAS_NAME)

/* Flows after a chain; longer lists are unusual. */
static inline const struct arg *
flows_of(const struct args *args)
{
	const struct arg *a = args->list.v;

	return args->list.n == 1 && a->key == KEY_FLOW_IDS &&
		a->type == VAL_JSON && !a->is_name &&
		a->len <= STREAM_INTERN_MAX
	    ? a
	    : NULL;
}

/*
 * After writing a slice: others of its category and chain have the same shape,
 * unless that depends on more.
 */
static void
learn_usual(struct perfetto *p, const struct open_slice *o, enum kind kind)
{
	const uint32_t row =
	    UINT32_C(1) << KEY_DEVICE | UINT32_C(1) << KEY_STREAM;
	const struct event *ev = maker_last(&p->maker);
	struct link *l = o->args.chain;
	bool has_flows = flows_of(&o->args) != NULL;

	if (o->args.list.n > has_flows || ev->shape->has != HAS_USUAL ||
	    ev->shape->nentries != l->nentries + has_flows)
		return;
	if (kind == KIND_SLICE && (l->known & KEYS_CORR) != 0)
		return; /* may be skipped */
	if ((KIND_BIT(kind) & KINDS_GPU) != 0 && (l->known & row) != row)
		return; /* the lane may name device and stream */
	*chain_usual(l, o->category, has_flows) =
	    (struct usual){ o->category, ev->shape_id + 1, has_flows };
}

/* Values of a chain and its flows. */
static __attribute__((noinline)) struct str
flow_values(
    struct perfetto *p, const struct args *args, const struct arg *flows)
{
	uint32_t id =
	    intern_put(p->maker.st->text, args_value(p, args, flows).s);

	p->text.len = 0;
	buf_put(&p->text, args->text.p, args->chain_len);
	buf_varint(&p->text, id);
	return buf_str(&p->text);
}

bool
write_usual(struct perfetto *p, const struct open_slice *o, int64_t end_ns)
{
	const struct args *args = &o->args;
	const struct arg *flows =
	    UNLIKELY(args->list.n > 0) ? flows_of(args) : NULL;
	const struct usual *u =
	    chain_usual(args->chain, o->category, flows != NULL);
	struct lane *l = &p->lanes.v[o->lane];
	uint32_t name = text_among(p->dict_ids.v, p->dict_ids.n, o->name);
	struct str vals = { args->text.p, args->chain_len };
	struct event *ev;

	if (UNLIKELY(args->list.n > 0) && flows == NULL)
		return false;
	if (u->shape == 0 || u->category != o->category ||
	    u->has_flows != (flows != NULL) || end_ns < o->ts_ns ||
	    name == INTERN_NONE || l->as_of != p->ntold ||
	    !l->whose.is_own_track)
		return false;
	if (flows != NULL)
		vals = flow_values(p, args, flows);
	l->is_used = true;
	ev = maker_again(&p->maker, u->shape - 1, l->whose.track, vals);
	ev->name = name;
	ev->ts_ns = source_time(p->s, o->ts_ns);
	ev->dur_ns = end_ns - o->ts_ns;
	ev->uid = (struct uid){ p->s->next_id++, 0 };
	source_event(p->s, ev); /* usual slices are never skipped */
	if (flows != NULL && UNLIKELY(source_trim(p->s, 0)))
		forget_strings(p);
	return true;
}

void
write_slice(struct perfetto *p, const struct open_slice *o,
    const int64_t *end_ns, const struct args *more_args)
{
	enum kind kind = kind_of(p, o);

	/* without a category it may be a launch or GPU work */
	if (kind == KIND_SLICE && perfetto_name(p, o->category).len == 0 &&
	    (known_keys(&o->args) & KEYS_CORR) != 0)
		p->s->skipped[SKIP_CATEGORY]++;
	p->lanes.v[o->lane].is_used = true;
	if (write_span(p, o, lane_owner(p, o->lane), kind, o->category, end_ns,
		more_args) &&
	    o->args.chain != NULL && more_args == NULL)
		learn_usual(p, o, kind);
}

void
write_point(struct perfetto *p, const struct open_slice *o, char ph)
{
	struct str cat = perfetto_name(p, o->category);

	p->lanes.v[o->lane].is_used = true;
	begin_event(p, o, lane_owner(p, o->lane),
	    kind_of_chrome(cat, o->category != NO_NAME, (unsigned char)ph),
	    o->category);
	maker_phase(&p->maker, ph);
	put_args(p, &o->args, NO_NAME);
	end_event(p);
}

void
write_counter(struct perfetto *p, const struct open_slice *o,
    struct whose *whose, const double *real, int64_t whole)
{
	struct value v = real != NULL
	    ? args_double(p, *real)
	    : (struct value){ .type = VAL_INT, .i = whole };

	begin_event(p, o, whose, KIND_COUNTER, NO_NAME);
	maker_phase(&p->maker, 'C');
	maker_arg(&p->maker, STR("value"), &v, ROLE_NONE);
	put_args(p, &o->args, NO_NAME);
	end_event(p);
}

static void
write_name(
    struct perfetto *p, const struct whose *w, bool is_process, uint32_t text)
{
	maker_begin(&p->maker, KIND_META, STR(""));
	maker_phase(&p->maker, 'M');
	maker_name(
	    &p->maker, is_process ? STR("process_name") : STR("thread_name"));
	maker_track(&p->maker, p->s->src, w->has_pid ? &w->pid : NULL,
	    is_process ? NULL : &w->tid);
	maker_str(&p->maker, STR("name"), intern_get(p->texts, text));
	end_event(p);
}

/* The name of the nearest track above that has one. */
static uint32_t
process_name(const struct perfetto *p, const struct lane *l)
{
	for (int i = 0; i < 64; i++) {
		const uint64_t *up;

		if (l->process_name != NO_NAME)
			return l->process_name;
		up = l->has_parent ? map_get(&p->lane_of, l->parent) : NULL;
		if (up == NULL)
			break;
		l = &p->lanes.v[*up];
	}
	return NO_NAME;
}

static uint32_t
listed_name(const struct map *names, int64_t number)
{
	const uint64_t *name = map_get(names, (uint64_t)number);

	return name != NULL ? (uint32_t)*name : NO_NAME;
}

/* All tracks of a process have its name. */
static bool
is_news(struct perfetto *p, int64_t pid, uint32_t name)
{
	uint64_t *told = map_put(&p->told_names, (uint64_t)pid, NULL);
	bool is_told = *told == name + UINT64_C(1);

	*told = name + UINT64_C(1);
	return !is_told;
}

void
write_names(struct perfetto *p, uint32_t lane)
{
	const struct lane *l = &p->lanes.v[lane];

	uint32_t process = process_name(p, l);
	uint32_t thread = l->thread_name != NO_NAME ? l->thread_name : l->name;
	struct whose w = *lane_owner(p, lane);

	if (process == NO_NAME && w.has_pid)
		process = listed_name(&p->process_names, w.pid);
	if (thread == NO_NAME && w.has_tid)
		thread = listed_name(&p->thread_names, w.tid);
	if (process != NO_NAME && is_news(p, w.pid, process))
		write_name(p, &w, true, process);
	/* a process is no thread, nor is a track below a thread */
	if (thread != NO_NAME && l->has_pid == l->has_tid &&
	    (l->has_tid || !w.has_tid))
		write_name(p, &w, false, thread);
}
