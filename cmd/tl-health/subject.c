/* SPDX-License-Identifier: MIT */
/* Takes the events of a source and counts what checks need. */
#include "cmd/tl-health/health.h"
#include "trace/bucket.h"
#include "trace/overrun.h"

/* Bits about a shape. */
enum {
	SHAPE_KNOWN = 1,
	SHAPE_REPEATS = 2, /* has a member twice */
};

void
tally_event(struct tally *t, struct uid uid, int64_t ns)
{
	if (t->n++ == 0 || uid_cmp(uid, t->first) < 0)
		t->first = uid;
	t->ns = num_add_max(t->ns, ns);
}

/* A source before its first event. */
static struct subject
subject_of(const struct source *src)
{
	int64_t base = 0;

	(void)!source_int(src, "base", &base);
	return (struct subject){
		.zero_ns = -base,
		.first_ns = INT64_MAX,
		.is_api_trace = source_is_api_trace(src),
		.is_xla = source_is_xla(src),
	};
}

static bool
is_alike(const struct subject *a, const struct subject *b)
{
	return a->zero_ns == b->zero_ns && a->is_api_trace == b->is_api_trace &&
	    a->is_xla == b->is_xla;
}

static void
begin(struct health *h, struct subject with)
{
	struct subject *s = &h->subject;

	with.host = s->host;
	*s = with;
	host_start(&s->host, h->dict, h->causes);
}

bool
subject_start(struct health *h, const struct source *src, bool may_keep)
{
	const struct sink_source *o =
	    sink_sources_source(&h->sources, &(struct select){ 0 }, src);
	struct subject *s = &h->subject, with = subject_of(src);
	bool is_kept = s->is_early && may_keep && is_alike(s, &with);
	int64_t world;

	if (s->is_open && s->source == o->no)
		return false;
	subject_end(h);
	if (s->is_early && !is_kept)
		subject_free(s);
	if (!is_kept)
		begin(h, with);
	s->is_early = false;
	s->is_open = true;
	s->source = o->no;
	s->window = o->window;
	s->has_window = o->has_window;
	check_facts(h, src);
	coverage_take_facts(s, src);
	if (source_int(src, "world_size", &world) && world > h->world)
		h->world = world;
	return is_kept;
}

/* ---- names ---- */

/* Whether it has control characters or U+FFFD. */
static bool
is_damaged(struct str name)
{
	bool is_ascii = true;

	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c < ' ' || c == 0x7f)
			return true;
		is_ascii &= c < 0x80;
	}
	return !is_ascii && str_find(name, STR("\357\277\275"), false) >= 0;
}

/* Bits about the name of an op. */
static unsigned
facts_of_op(struct str name)
{
	static const struct str wrapper =
	    STR_INIT("autograd::engine::evaluate_function: ");

	if (!str_starts(name, wrapper))
		return 0;
	/* a leaf's gradient has no forward op */
	return str_ends(name, STR(": torch::autograd::AccumulateGrad"))
	    ? NAME_WRAPS_BACKWARD | NAME_WRAPS_NO_OP
	    : NAME_WRAPS_BACKWARD;
}

static unsigned
facts_of_call(struct str name)
{
	static const struct {
		const char *like;
		unsigned fact;
	} words[] = {
		{ "*Launch*Kernel*", NAME_LAUNCHES },
		{ "*GraphLaunch*", NAME_LAUNCHES },
		{ "*StreamBeginCapture*", NAME_BEGINS_CAPTURE },
		{ "*StreamEndCapture*", NAME_ENDS_CAPTURE },
	};
	unsigned facts = 0;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_glob(str_of(words[i].like), name))
			facts |= words[i].fact;
	return facts;
}

static unsigned
facts_of_kernel(struct str name)
{
	static const struct bucket_rules rules;

	return bucket_of(&rules, KIND_KERNEL, name) == BUCKET_COMM
	    ? NAME_IS_COLLECTIVE
	    : 0;
}

/* Names are many: each is judged once, and only for what is asked. */
unsigned
name_facts(struct health *h, uint32_t name, enum name_of of)
{
	static unsigned (*const looks[])(struct str) = {
		[NAME_OF_OP] = facts_of_op,
		[NAME_OF_CALL] = facts_of_call,
		[NAME_OF_KERNEL] = facts_of_kernel,
	};
	unsigned known = (unsigned)NAME_KNOWN << of;
	uint16_t *facts;

	if (name == INTERN_NONE)
		return 0;
	while (h->names.n <= name)
		vec_push(&h->names, 0);
	facts = &h->names.v[name];
	if ((*facts & known) == 0)
		*facts |= (uint16_t)(known |
		    (of == NAME_OF_ANY ? is_damaged(dict_get(h->dict, name)) *
				(unsigned)NAME_IS_DAMAGED
				       : looks[of](dict_get(h->dict, name))));
	return *facts;
}

/* ---- events ---- */

static uint8_t
facts_of_shape(const struct shape *shape)
{
	unsigned facts = SHAPE_KNOWN;

	for (uint32_t i = 0; i < shape->nentries; i++)
		if (shape->entries[i].group == GROUP_DUP ||
		    shape->entries[i].group == GROUP_DUPTOP)
			facts |= SHAPE_REPEATS;
	return (uint8_t)facts;
}

static unsigned
shape_facts(struct health *h, const struct event *ev)
{
	struct subject *s = &h->subject;

	while (s->shapes.n <= ev->shape_id)
		vec_push(&s->shapes, 0);
	if (s->shapes.v[ev->shape_id] == 0)
		s->shapes.v[ev->shape_id] = facts_of_shape(ev->shape);
	return s->shapes.v[ev->shape_id];
}

static void
take_gpu(struct subject *s, const struct event *ev, int64_t end_ns)
{
	s->ngpu++;
	s->gpu_ns = num_add_max(s->gpu_ns, ev->dur_ns);
	s->divisor = num_gcd(num_gcd(s->divisor, ev->ts_ns), ev->dur_ns);
	if (ev->ts_ns != s->zero_ns)
		spans_add(&s->busy, ev->ts_ns, end_ns);
	if (ev->dur_ns == 0 && (ev->flags & EV_CLAMPED) == 0)
		tally_event(&s->of[CHECK_TIME_NO_DURATION], ev->uid, 0);
	if (ev->dur_ns > s->longest_ns ||
	    (ev->dur_ns == s->longest_ns && uid_cmp(ev->uid, s->longest) < 0)) {
		s->longest_ns = ev->dur_ns;
		s->longest = ev->uid;
	}
}

static void
take_slice(struct subject *s, const struct event *ev)
{
	const bool is_gpu = event_is(ev, KINDS_GPU);
	int64_t end;

	if (__builtin_add_overflow(ev->ts_ns, ev->dur_ns, &end))
		return;
	/* these shares are of GPU events, so only their time counts */
	if (ev->ts_ns == s->zero_ns)
		tally_event(&s->of[CHECK_TIME_ZERO], ev->uid, is_gpu);
	else if (ev->ts_ns < s->first_ns)
		s->first_ns = ev->ts_ns;
	if ((ev->flags & EV_CLAMPED) != 0)
		tally_event(&s->of[CHECK_TIME_NEGATIVE], ev->uid, is_gpu);
	spans_add(ev->ts_ns == s->zero_ns ? &s->at_zero : &s->recorded,
	    ev->ts_ns, end);
	if (is_gpu)
		take_gpu(s, ev, end);
}

/* The event says nothing about others. */
static bool
is_huge(struct subject *s, const struct event *ev)
{
	const bool is_gpu = event_is(ev, KINDS_GPU);

	if (ev->dur_ns <= IMPOSSIBLE_NS)
		return false;
	tally_event(&s->of[CHECK_TIME_HUGE], ev->uid, is_gpu);
	s->ngpu += is_gpu;
	return true;
}

/* A row with the profiler's window, under Kineto's name. */
static void
take_profile(struct subject *s, const struct dict *st, const struct event *ev)
{
	if (!str_starts(dict_get(st, ev->name), STR("PyTorch Profiler")) ||
	    ev->dur_ns == 0)
		return;
	tally_event(&s->of[CHECK_FILE_SEVERAL], ev->uid, 0);
	s->window =
	    (struct span){ ev->ts_ns, num_add_max(ev->ts_ns, ev->dur_ns) };
	s->has_window = true;
}

bool
subject_is_wrapper(struct health *h, uint32_t name)
{
	return (name_facts(h, name, NAME_OF_OP) &
		   (NAME_WRAPS_BACKWARD | NAME_WRAPS_NO_OP)) ==
	    NAME_WRAPS_BACKWARD;
}

static void
take_host(struct health *h, const struct event *ev)
{
	struct subject *s = &h->subject;

	if (event_is(ev, KINDS_LAUNCH)) {
		links_take_call(h, ev);
		return;
	}
	s->nops++;
	s->nwrappers += subject_is_wrapper(h, ev->name);
}

static void
keep(struct health *h, const struct event *ev, const struct gpu_more *more)
{
	struct subject *s = &h->subject;

	host_add(&s->host, ev);
	if (s->more.n == s->host.gpus.n)
		return;
	vec_push(&s->more, *more);
	if (!more->has_hlo && s->is_xla && event_is(ev, KIND_BIT(KIND_KERNEL)))
		tally_event(&s->of[CHECK_CONTENT_NO_HLO], ev->uid, ev->dur_ns);
}

/* All that needs neither links nor tree; more: of a GPU event. */
static void
take_read(struct health *h, const struct event *ev, const struct gpu_more *more)
{
	const unsigned timed = HAS_TS | HAS_DUR, facts = shape_facts(h, ev);
	struct subject *s = &h->subject;

	if (event_is(ev, KIND_BIT(KIND_FLOW))) {
		links_take_flow(h, ev);
		return;
	}
	s->nevents++;
	if ((facts & SHAPE_REPEATS) != 0 && !s->is_xla)
		tally_event(&s->of[CHECK_FILE_KEYS], ev->uid, 0);
	if ((ev->flags & EV_DUPLICATE) != 0) {
		tally_event(&s->of[CHECK_FILE_TWICE], ev->uid, ev->dur_ns);
		return;
	}
	if ((ev->shape->has & timed) != timed ||
	    (event_is(ev, KINDS_GPU | KINDS_HOST) && is_huge(s, ev))) {
		if ((ev->shape->has & HAS_LAUNCH) != 0)
			(void)map_put(&s->launched, uid_hash(ev->launch), NULL);
		return;
	}
	if (event_is(ev, KINDS_GPU | KINDS_HOST)) {
		take_slice(s, ev);
		content_take_name(h, ev);
	}
	if (event_is(ev, KINDS_HOST))
		take_host(h, ev);
	else if (event_is(ev, KINDS_UNKNOWN))
		tally_event(&s->of[CHECK_CONTENT_UNKNOWN], ev->uid, 0);
	else if (event_is(ev, KIND_BIT(KIND_SPAN)))
		take_profile(s, h->dict, ev);
	keep(h, ev, more);
}

void
subject_take_gpu(
    struct health *h, const struct event *ev, const struct gpu_more *more)
{
	take_read(h, ev, more);
}

static bool
is_timed(const struct event *ev)
{
	const unsigned timed = HAS_TS | HAS_DUR;

	return (ev->flags & EV_DUPLICATE) == 0 &&
	    (ev->shape->has & timed) == timed && ev->dur_ns <= IMPOSSIBLE_NS;
}

void
subject_take_backward(struct health *h, const struct event *ev)
{
	if (is_timed(ev) && subject_is_wrapper(h, ev->name) &&
	    (ev->shape->has & HAS_FWD) == 0)
		tally_event(&h->subject.of[CHECK_LINK_BACKWARD], ev->uid, 0);
}

#define KINDS_OF_OPS (KINDS_HOST & ~KINDS_LAUNCH)

void
subject_take(struct health *h, const struct event *ev)
{
	struct gpu_more gpu = { 0 };
	struct op_more op;

	if (event_is(ev, KINDS_GPU))
		gpu = content_of_gpu(h, ev);
	take_read(h, ev, &gpu);
	if (!event_is(ev, KINDS_OF_OPS))
		return;
	subject_take_backward(h, ev);
	if ((ev->shape->has & HAS_NGPU) == 0 || ev->ngpu == 0 || !is_timed(ev))
		return;
	op = content_of_op(h, ev);
	content_take_op(h, ev->uid, &op);
}

void
subject_take_early(
    struct health *h, const struct source *src, const struct event *ev)
{
	struct subject *s = &h->subject;

	if (!s->is_early) {
		subject_end(h);
		begin(h, subject_of(src));
		s->is_early = true;
	}
	if (event_is(ev, KINDS_GPU)) {
		vec_push(&s->gpus_read, content_of_gpu(h, ev));
		return;
	}
	take_read(h, ev, NULL);
	if (event_is(ev, KINDS_OF_OPS))
		vec_push(&s->ops_read,
		    (is_timed(ev) ? content_of_op(h, ev)
				  : (struct op_more){ 0 }));
}

/* Times of 0 are wrong only if the recording is elsewhere. */
static void
settle_zero(struct subject *s)
{
	s->zero_is_wrong = s->first_ns != INT64_MAX &&
	    (double)s->first_ns - (double)s->zero_ns >
		(double)IMPOSSIBLE_HOLE_NS;
	if (!s->zero_is_wrong)
		for (size_t i = 0; i < s->at_zero.n; i++)
			spans_add(&s->recorded, s->at_zero.v[i].start,
			    s->at_zero.v[i].end);
}

static void
note_window(struct health *h)
{
	const struct spans *b = &h->subject.busy;

	vec_push(&h->windows,
	    b->n == 0 ? ((struct span){ 0, 0 })
		      : ((struct span){ b->v[0].start, b->v[b->n - 1].end }));
}

void
subject_end(struct health *h)
{
	struct subject *s = &h->subject;

	if (!s->is_open)
		return;
	h->nevents += s->nevents;
	h->ngpu += s->ngpu;
	settle_zero(s);
	spans_normalise(&s->busy);
	spans_normalise(&s->recorded);
	host_ready(&s->host);
	check_file(h);
	check_time(h);
	/* what a part lacks was taken out */
	if (!h->is_edited) {
		check_links(h);
		check_coverage(h);
	}
	note_window(h);
	check_content(h);
	subject_free(s);
}

void
subject_free(struct subject *s)
{
	s->is_open = false;
	spans_free(&s->busy);
	spans_free(&s->recorded);
	spans_free(&s->at_zero);
	vec_free(&s->shapes);
	map_free(&s->call_of);
	map_free(&s->launched);
	vec_free(&s->calls);
	vec_free(&s->more);
	vec_free(&s->gpus_read);
	vec_free(&s->ops_read);
	vec_free(&s->gpu_args);
	map_free(&s->shaped);
	map_free(&s->flow_of);
	vec_free(&s->flows);
}
