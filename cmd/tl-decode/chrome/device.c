/* SPDX-License-Identifier: MIT */
/*
 * Kinds that phase and category do not show. rocmProfileData, rocprof, xprof
 * and msprof have no categories of Kineto, but name a device's process before
 * its events: its slices are GPU work, and slices of other processes named like
 * a runtime call are calls. Kineto of 2021 gave steps the category of ops.
 */
#include "cmd/tl-decode/chrome/event.h"

#include <ctype.h>

enum {
	TRACK_UNKNOWN, /* not looked up yet */
	TRACK_HOST,
	TRACK_GPU,
	TRACK_COPIES,
};

/*
 * A named process (no tid) or thread; its ids are text, as strings get cleared.
 */
struct place {
	struct str pid, tid;
	uint8_t is;      /* TRACK_* of its slices */
	bool of_streams; /* only of its threads that are streams */
	struct str gpu;  /* number, where XLA's profiler names it */
};

#define GPUS_MAX 1024 /* numbers kept */

struct devices {
	struct arena *mem;
	VEC(struct place) processes, streams;
	VEC(uint8_t) tracks; /* TRACK_* by track number */
	struct buf gpus;     /* see devices_gpus() */
	size_t ngpus;
};

struct devices *
devices_create(struct arena *mem)
{
	struct devices *d = xcalloc(1, sizeof *d);

	d->mem = mem;
	return d;
}

void
devices_destroy(struct devices *d)
{
	vec_free(&d->processes);
	vec_free(&d->streams);
	vec_free(&d->tracks);
	buf_free(&d->gpus);
	vec_release(d);
}

void
devices_renumber(struct devices *d)
{
	d->tracks.n = 0;
}

/* ---- names ---- */

static size_t
count_digits(struct str s)
{
	size_t n = 0;

	while (n < s.len && isdigit((unsigned char)s.p[n]))
		n++;
	return n;
}

static bool
step_over(struct str *s, struct str prefix)
{
	if (!str_starts(*s, prefix))
		return false;
	s->p += prefix.len;
	s->len -= prefix.len;
	return true;
}

static bool
is_number(struct str s)
{
	return s.len > 0 && count_digits(s) == s.len;
}

/* "GPU0", "GPU 0", and rocprof's "2 GPU0". */
static bool
is_gpu_row(struct str s)
{
	return step_over(&s, STR("GPU")) &&
	    (is_number(s) || (step_over(&s, STR(" ")) && is_number(s)));
}

static struct place
place_of_process(struct str s)
{
	size_t n = count_digits(s);
	struct str row = s;

	if (n > 0 && n < s.len && s.p[n] == ' ')
		row = (struct str){ s.p + n + 1, s.len - n - 1 };
	if (is_gpu_row(row))
		return (struct place){ .is = TRACK_GPU };
	if (str_eq(row, STR("COPY")))
		return (struct place){ .is = TRACK_COPIES };
	/* other lines are derived from the streams */
	if (str_eq(s, STR("Ascend Hardware")))
		return (struct place){ .is = TRACK_GPU, .of_streams = true };
	if (step_over(&s, STR("/device:GPU:")) && is_number(s))
		return (struct place){
			.is = TRACK_GPU, .of_streams = true, .gpu = s
		};
	return (struct place){ .is = TRACK_HOST };
}

static bool
is_stream(struct str s)
{
	return str_starts(s, STR("Stream")) || str_starts(s, STR("stream"));
}

/* Work of a device other than kernels, by those tools' names. */
static enum kind
kind_of_work(struct str name)
{
	static const struct {
		struct str prefix;
		enum kind kind;
	} works[] = {
		{ STR_INIT("memcpy"), KIND_MEMCPY },
		{ STR_INIT("hipmemcpy"), KIND_MEMCPY },
		{ STR_INIT("hcmemcpy"), KIND_MEMCPY },
		{ STR_INIT("copyhostto"), KIND_MEMCPY },
		{ STR_INIT("copydeviceto"), KIND_MEMCPY },
		{ STR_INIT("memset"), KIND_MEMSET },
		{ STR_INIT("hipmemset"), KIND_MEMSET },
		{ STR_INIT("fillbuffer"), KIND_MEMSET },
		{ STR_INIT("barrier"), KIND_SYNC },
		{ STR_INIT("marker"), KIND_SYNC },
		{ STR_INIT("event_"), KIND_SYNC },
		{ STR_INIT("notify_"), KIND_SYNC },
	};

	for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
		struct str p = works[i].prefix;

		if (name.len >= p.len && strncasecmp(name.p, p.p, p.len) == 0)
			return works[i].kind;
	}
	return KIND_KERNEL;
}

/* After an underscore in names of calls. */
static bool
is_api_version(struct str s)
{
	return str_glob(STR("_v[1-9]*"), s) || str_glob(STR("_pt[ds]*"), s) ||
	    str_eq(s, STR("_spt"));
}

/*
 * A runtime or driver call: hipMalloc, cudaMalloc, cuMemAlloc_v2; no library's,
 * such as cuDNN_conv.
 */
static bool
is_api_call(struct str s)
{
	size_t i = 0;

	if (!step_over(&s, STR("hip")) && !step_over(&s, STR("cuda")) &&
	    !step_over(&s, STR("cu")))
		return false;
	if (s.len < 2 || !isupper((unsigned char)s.p[0]) ||
	    !islower((unsigned char)s.p[1]))
		return false;
	while (i < s.len && isalnum((unsigned char)s.p[i]))
		i++;
	return i == s.len || is_api_version((struct str){ s.p + i, s.len - i });
}

/* ---- places ---- */

static struct str
text_of_key(
    const struct dict *st, struct key k, char digits[static NUM_DEC_MAX])
{
	switch (k.type) {
	case KEY_INT: return (struct str){ digits, num_put_i64(digits, k.n) };
	case KEY_STR: return dict_get(st, (uint32_t)k.n);
	default: return STR("");
	}
}

static const struct place *
find_process(const struct devices *d, struct str pid)
{
	for (size_t i = d->processes.n; i-- > 0;)
		if (str_eq(d->processes.v[i].pid, pid))
			return &d->processes.v[i];
	return NULL;
}

static bool
has_stream(const struct devices *d, struct str pid, struct str tid)
{
	for (size_t i = 0; i < d->streams.n; i++)
		if (str_eq(d->streams.v[i].pid, pid) &&
		    str_eq(d->streams.v[i].tid, tid))
			return true;
	return false;
}

/* The first name of a pid counts. */
static void
learn_gpu(struct devices *d, const struct place *at)
{
	if (d->ngpus == GPUS_MAX || find_process(d, at->pid) != NULL)
		return;
	d->gpus.len -= d->ngpus > 0;
	buf_putc(&d->gpus, d->ngpus++ > 0 ? ',' : '{');
	json_put_string(&d->gpus, at->pid);
	buf_putc(&d->gpus, ':');
	json_put_string(&d->gpus, at->gpu);
	buf_putc(&d->gpus, '}');
}

struct str
devices_gpus(const struct devices *d)
{
	return buf_str(&d->gpus);
}

void
devices_learn(struct devices *d, const struct dict *st, const struct event *ev)
{
	const struct track *t = &st->tracks.v[ev->track];
	char pid_digits[NUM_DEC_MAX], tid_digits[NUM_DEC_MAX];
	struct str what = dict_get(st, ev->name);
	bool is_process = str_eq(what, STR("process_name"));
	struct place at = { .is = TRACK_GPU };
	struct value v;

	if ((!is_process && !str_eq(what, STR("thread_name"))) ||
	    !event_arg(st, ev, STR("name"), &v) ||
	    (v.type != VAL_STR && v.type != VAL_STRX))
		return;
	if (is_process)
		at = place_of_process(v.s);
	else if (!is_stream(v.s))
		return;
	at.pid = text_of_key(st, t->pid, pid_digits);
	/* a host's name only matters in place of a device's */
	if (at.is == TRACK_HOST && find_process(d, at.pid) == NULL)
		return;
	at.pid = arena_str(d->mem, at.pid);
	if (at.gpu.len > 0)
		learn_gpu(d, &at);
	if (is_process) {
		vec_push(&d->processes, at);
	} else {
		at.tid = arena_str(d->mem, text_of_key(st, t->tid, tid_digits));
		vec_push(&d->streams, at);
	}
	d->tracks.n = 0;
}

static uint8_t
look_up(const struct devices *d, const struct dict *st, uint32_t track)
{
	const struct track *t = &st->tracks.v[track];
	char pid_digits[NUM_DEC_MAX], tid_digits[NUM_DEC_MAX];
	struct str pid = text_of_key(st, t->pid, pid_digits);
	const struct place *p = find_process(d, pid);

	if (p == NULL ||
	    (p->of_streams &&
		!has_stream(d, pid, text_of_key(st, t->tid, tid_digits))))
		return TRACK_HOST;
	return p->is;
}

static uint8_t
track_is(struct devices *d, const struct dict *st, uint32_t track)
{
	while (d->tracks.n <= track)
		vec_push(&d->tracks, TRACK_UNKNOWN);
	if (d->tracks.v[track] == TRACK_UNKNOWN)
		d->tracks.v[track] = look_up(d, st, track);
	return d->tracks.v[track];
}

bool
device_may_ask(enum kind kind, struct str cat)
{
	return kind == KIND_SLICE || kind == KIND_META ||
	    (kind == KIND_OP && str_eq(cat, STR("Operator")));
}

enum kind
device_kind(struct devices *d, const struct dict *st, enum kind kind,
    uint32_t track, struct str name)
{
	if (kind == KIND_OP)
		return str_starts(name, STR("ProfilerStep#")) ? KIND_ANNOTATION
							      : kind;
	if (kind != KIND_SLICE || d->processes.n == 0)
		return kind;
	switch (track_is(d, st, track)) {
	case TRACK_GPU: return kind_of_work(name);
	case TRACK_COPIES: return KIND_MEMCPY;
	default: return is_api_call(name) ? KIND_RUNTIME : kind;
	}
}
