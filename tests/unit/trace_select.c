/* SPDX-License-Identifier: MIT */
/* trace/select.c, fed by hand with the items of a tree stream. */
#include "tests/unit/child.h"
#include "tests/unit/tap.h"
#include "trace/select.h"
#include "trace/step.h"

static struct dict *st;
static struct stream_in in;
static struct select sel;
static uint64_t next_id;

#define FIRST 5 /* the source's first event */

/* ---- a stream by hand ---- */

static uint32_t
shape_of(enum kind kind, unsigned has)
{
	return dict_shape(st,
	    &(struct shape){ .kind = (uint8_t)kind,
		.cat = INTERN_NONE,
		.has = (uint16_t)(HAS_TRACK | HAS_TS | HAS_DUR | HAS_NAME |
		    has) });
}

static uint32_t
track_of(int64_t tid)
{
	return dict_track(st,
	    &(struct track){
		.has_tid = true,
		.raw_tid = { .type = VAL_INT, .i = tid },
	    });
}

static struct event
event(enum kind kind, const char *name, int64_t tid, int64_t ts, int64_t dur)
{
	struct event ev = {
		.shape_id = shape_of(kind, 0),
		.track = track_of(tid),
		.name = intern_put(st->text, str_of(name)),
		.uid = { next_id++, 0 },
		.ts_ns = ts,
		.dur_ns = dur,
	};

	ev.shape = st->shapes.v[ev.shape_id];
	return ev;
}

static bool
feed(struct event ev)
{
	in.ev = ev;
	return select_item(&sel, &in, ITEM_EVENT);
}

static void
section(enum section s)
{
	in.section = s;
	(void)!select_item(&sel, &in, ITEM_SECTION);
}

static void
source(int64_t rank)
{
	struct fact f[] = {
		{ STR("first"), { .type = VAL_INT, .i = FIRST } },
		{ STR("rank"), { .type = VAL_INT, .i = rank } },
	};

	in.source = (struct source){ .nfacts = 1 + (rank >= 0), .facts = f };
	(void)!select_item(&sel, &in, ITEM_SOURCE);
}

static struct event launch;

static bool
feed_launch(int64_t tid, int64_t ts, uint32_t depth)
{
	launch = event(KIND_RUNTIME, "hipLaunchKernel", tid, ts, 5);
	launch.depth = depth;
	return feed(launch);
}

/* A kernel below the last launch; on device dev and GPU stream gs. */
static struct event
kernel(const char *name, int64_t ts, int64_t dev, int64_t gs)
{
	struct event ev = event(KIND_KERNEL, name, 7, ts, 10);

	ev.shape_id = shape_of(KIND_KERNEL, HAS_LAUNCH | HAS_DEPTH);
	ev.shape = st->shapes.v[ev.shape_id];
	ev.launch = launch.uid;
	ev.depth = launch.depth + 1;
	ev.dev = (struct key){ dev, KEY_INT };
	ev.gpu_stream = (struct key){ gs, KEY_INT };
	return ev;
}

static void
option(int ch, const char *name, const char *arg)
{
	struct optparse op = { .name = name, .arg = arg };

	if (!select_opt(&sel, &op, ch))
		bail_out("select_opt() does not know its own option");
}

#define OPTION(word, arg) option(OPT_SELECT_##word, "--" #word, arg)

static void
begin(void)
{
	select_free(&sel);
	memset(&sel, 0, sizeof sel);
	next_id = 0;
}

static void
start(void)
{
	in.name = "a.tl";
	in.dict = st;
	select_start(&sel, &in, 0);
}

/*
 * Steps 3, 4, 5 at 100, 200, 300 of 90 each on thread 1; "forward" in each for
 * 40; in the second a "nested" one; thread 2 has its own.
 */
static void
prologue(int64_t rank)
{
	source(rank);
	section(SECTION_PROLOGUE);
	for (int i = 2; i >= 0; i--) {
		char step[32];

		snprintf(step, sizeof step, "ProfilerStep#%d", i + 3);
		feed(event(KIND_ANNOTATION, step, 1, 100 + 100 * i, 90));
		feed(event(KIND_ANNOTATION, "forward", 1, 110 + 100 * i, 40));
	}
	feed(event(KIND_ANNOTATION, "nested", 1, 220, 10));
	feed(event(KIND_ANNOTATION, "load#2", 2, 115, 1000));
	section(SECTION_TREE);
}

/* The launches at 105, 115, ... 385 whose kernels are selected. */
static const char *
asked(void)
{
	static struct buf b;

	b.len = 0;
	for (int64_t ts = 105; ts < 400; ts += 10) {
		feed_launch(1, ts, 1);
		if (feed(kernel("k", ts + 1000, 0, 0)))
			buf_printf(&b, "%s%" PRId64, b.len > 0 ? " " : "", ts);
	}
	buf_putc(&b, '\0');
	return b.p;
}

static void
windows(const char *what, const char *want)
{
	start();
	prologue(-1);
	is_str(asked(), want, "%s", what);
}

static void
test_windows(void)
{
	begin();
	OPTION(STEP, "4");
	is_int(select_want(&sel, WANT_STREAM), WANT_TREE, "steps need a tree");
	is_uint(select_kinds(&sel, KINDS_GPU),
	    KINDS_GPU | KINDS_LAUNCH | KIND_BIT(KIND_ANNOTATION),
	    "kinds to read");
	windows("--step 4", "205 215 225 235 245 255 265 275 285 295");
	windows("a second stream", "205 215 225 235 245 255 265 275 285 295");
	begin();
	OPTION(STEP, "slowest");
	windows("the slowest, the first of equals",
	    "105 115 125 135 145 155 165 175 185 195");
	begin();
	OPTION(STEP, "4");
	OPTION(ANNOTATION, "forward");
	windows("and --annotation forward", "215 225 235 245");
	begin();
	OPTION(ANNOTATION, "forward#3");
	windows("the third of a name", "315 325 335 345");
	begin();
	OPTION(ANNOTATION, "forward#1");
	OPTION(ANNOTATION, "nes*");
	windows("two annotations", "115 125 135 145 225");
	begin();
	OPTION(ANNOTATION, "ProfilerStep#5");
	OPTION(TO, "345ns");
	windows("a name with a # and --to", "305 315 325 335 345");
	begin();
	OPTION(STEP, "first,last");
	OPTION(ANNOTATION, "forward");
	windows("first and last", "115 125 135 145 315 325 335 345");
	begin();
	OPTION(FROM, "370ns");
	windows("--from is inclusive", "375 385 395");
	begin();
	OPTION(FROM, "120ns");
	OPTION(TO, "140ns");
	windows("--to is exclusive", "125 135");
	is_int(select_want(&sel, WANT_STREAM), WANT_TREE, "for its launches");
}

/* In a ProfilerStep: decode from 120 to 150, prefill from 160 on, cut at 200.
 */
static void
iterations(const char *what, const char *want)
{
	start();
	source(-1);
	section(SECTION_PROLOGUE);
	feed(event(KIND_ANNOTATION, "ProfilerStep#1", 1, 100, 120));
	feed(event(KIND_ANNOTATION, "ProfilerStep#2", 1, 220, 100));
	feed(event(KIND_ANNOTATION, "step[DECODE bs=3]", 1, 120, 30));
	feed(event(KIND_ANNOTATION, "step[EXTEND bs=1 toks=5]", 1, 160, 50));
	feed(event(KIND_ANNOTATION, "execute_diffusion_1_8x8", 1, 200, 30));
	section(SECTION_TREE);
	is_str(asked(), want, "%s", what);
}

static void
is_phase(const char *want)
{
	struct key k = select_phase(&sel);

	ok(k.type == KEY_STR &&
		str_eq(dict_get(st, (uint32_t)k.n), str_of(want)),
	    "phase %s", want);
}

static void
test_phases(void)
{
	struct event ev;

	begin();
	OPTION(PHASE, "decode");
	is_int(select_want(&sel, WANT_STREAM), WANT_TREE, "phases need a tree");
	iterations("decode", "125 135 145");
	begin();
	OPTION(PHASE, "prefill,generic");
	iterations("two of them", "165 175 185 195 205 215 225");
	begin();
	OPTION(PHASE, "mixed");
	iterations("none", "");
	begin();
	OPTION(PHASE, "outside");
	OPTION(STEP, "1");
	iterations("outside, in a step", "105 115 155");
	begin();
	OPTION(PHASE, "prefill");
	OPTION(PHASE, "decode");
	iterations("repeated", "125 135 145 165 175 185 195");
	(void)feed_launch(2, 130, 1);
	(void)feed(kernel("k", 500, 0, 0));
	is_phase("decode"); /* of any thread, by the launch */
	(void)feed_launch(1, 230, 1);
	is_phase("outside");
	ev = kernel("k", 130, 0, 0);
	ev.shape_id = shape_of(KIND_KERNEL, 0);
	ev.shape = st->shapes.v[ev.shape_id];
	(void)feed(ev);
	ok(select_phase(&sel).type == KEY_NONE, "without a launch none");
}

static void
test_gpu_time(void)
{
	struct event ev, outer;

	begin();
	OPTION(STEP, "3-4");
	start();
	prologue(-1);
	ok(!feed_launch(1, 95, 1), "a launch before the steps");
	ok(!feed(kernel("k", 150, 0, 0)), "its kernel inside");
	ok(feed_launch(1, 280, 1), "a launch in a step");
	ok(feed(kernel("k", 500, 0, 0)), "its kernel behind");
	ev = kernel("k", 150, 0, 0);
	ev.shape_id = shape_of(KIND_KERNEL, 0);
	ev.shape = st->shapes.v[ev.shape_id];
	ok(!feed(ev), "no launch, no window");
	ok(feed_launch(1, 150, 1), "a launch in a step");
	outer = launch;
	ok(!feed_launch(1, 300, 2), "a launch below it that is in none");
	ok(!feed(kernel("k", 150, 0, 0)), "its kernel");
	launch = outer;
	ok(feed(kernel("k", 900, 0, 0)), "a kernel of the outer one");
	sel.by_gpu_time = true;
	ok(feed(ev), "--by-gpu-time: without launch");
	ok(!feed(kernel("k", 500, 0, 0)), "--by-gpu-time: behind the step");
	is_uint(select_kinds(&sel, KINDS_GPU),
	    KINDS_GPU | KIND_BIT(KIND_ANNOTATION), "no launches to read");
}

static void
test_around(void)
{
	const struct select_window *w;

	begin();
	sel.need_windows = true;
	start();
	prologue(-1);
	ok(feed_launch(1, 225, 1) && feed(kernel("k", 900, 0, 0)),
	    "nothing is left out");
	ok(select_step(&sel) != NULL && select_step(&sel)->number == 4,
	    "its step");
	w = select_annotation(&sel);
	ok(w != NULL && str_eq(dict_get(st, w->name), STR("nested")),
	    "the innermost annotation");
	(void)feed_launch(1, 235, 1);
	w = select_annotation(&sel);
	ok(w != NULL && str_eq(dict_get(st, w->name), STR("forward")) &&
		w->start == 210,
	    "behind the nested one");
	(void)feed_launch(1, 255, 1);
	w = select_annotation(&sel);
	ok(w != NULL && str_eq(dict_get(st, w->name), STR("load#2")),
	    "of another thread when its own has none");
	(void)feed_launch(2, 225, 1);
	w = select_annotation(&sel);
	ok(w != NULL && str_eq(dict_get(st, w->name), STR("load#2")),
	    "its own thread first");
	(void)feed_launch(1, 199, 1);
	ok(select_step(&sel) != NULL && select_step(&sel)->number == 3,
	    "up to the next one");
	(void)feed_launch(1, 390, 1);
	ok(select_step(&sel) == NULL, "behind the last one");
	(void)feed_launch(1, 105, 1);
	ok(select_annotation(&sel) == NULL, "in no annotation");
}

static void
test_fields(void)
{
	begin();
	OPTION(KIND, "kernel,memset");
	OPTION(NAME, "void *gemm*");
	OPTION(NAME, "k?");
	OPTION(DEV, "0,4-5");
	OPTION(GPU_STREAM, "7,-3");
	is_int(select_want(&sel, WANT_STREAM), WANT_STREAM, "any stream does");
	is_uint(select_kinds(&sel, KINDS_GPU),
	    KIND_BIT(KIND_KERNEL) | KIND_BIT(KIND_MEMSET), "kinds to read");
	start();
	ok(feed(kernel("void a::gemm<1>", 0, 0, 7)), "agrees with all");
	ok(feed(kernel("k1", 0, 4, -3)), "the second of each");
	ok(feed(kernel("k1", 0, 5, -3)), "the end of a range");
	ok(!feed(kernel("k1", 0, 6, 7)), "another device");
	ok(!feed(kernel("k1", 0, 0, 3)), "another GPU stream");
	ok(!feed(kernel("k12", 0, 0, 7)), "another name");
	ok(!feed(event(KIND_MEMCPY, "k1", 0, 0, 0)), "another kind");
	ok(!feed(event(KIND_KERNEL, "k1", 0, 0, 0)), "no device");

	begin();
	OPTION(MIN_DUR, "10ns");
	start();
	ok(feed(event(KIND_OP, "x", 1, 0, 10)), "as long as asked for");
	ok(!feed(event(KIND_OP, "x", 1, 0, 9)), "shorter");

	begin();
	OPTION(DEV, "gpu0");
	start();
	struct event ev = kernel("k", 0, 0, 0);

	ok(!feed(ev), "0 is no word");
	ev.dev = (struct key){ intern_put(st->text, STR("gpu0")), KEY_STR };
	ok(feed(ev), "a device with a word");
	ev.flags = EV_STUB;
	ok(!feed(ev), "a stub is not asked for");
}

static void
test_ranks(void)
{
	begin();
	OPTION(RANK, "1,3-4");
	is_int(select_want(&sel, WANT_LINKED), WANT_TREE,
	    "a rank is known early in a tree only");
	start();
	ok(!feed(event(KIND_OP, "x", 1, 0, 1)), "no rank yet");
	source(2);
	ok(!feed(event(KIND_OP, "x", 1, 0, 1)), "another rank");
	source(3);
	ok(feed(event(KIND_OP, "x", 1, 0, 1)), "this rank");
	source(-1);
	ok(!feed(event(KIND_OP, "x", 1, 0, 1)), "no rank");
	sel.late_ranks = true;
	ok(feed(event(KIND_OP, "x", 1, 0, 1)), "unless judged later");
	is_int(select_want(&sel, WANT_LINKED), WANT_LINKED, "then no tree");
}

/* ---- warnings ---- */

static void
no_such_step(void)
{
	begin();
	OPTION(STEP, "9");
	start();
	prologue(-1);
	(void)asked();
	exit(exit_status());
}

static void
no_such_annotation(void)
{
	begin();
	OPTION(ANNOTATION, "forward#4");
	start();
	prologue(-1);
	(void)asked();
	exit(exit_status());
}

static void
no_first(void)
{
	begin();
	OPTION(TO, "1s");
	start();
	section(SECTION_TREE);
	(void)asked();
}

static void
no_steps(void)
{
	begin();
	OPTION(STEP, "last");
	start();
	section(SECTION_PROLOGUE);
	section(SECTION_TREE);
	(void)asked();
	exit(exit_status());
}

static void
bad_step(void)
{
	OPTION(STEP, "3,newest");
}

static void
bad_process(void)
{
	OPTION(STEP, "3@");
}

static void
ask_processes(const char *steps)
{
	begin();
	OPTION(STEP, steps);
	start();
	prologue(-1);
	(void)asked();
	select_end(&sel);
	exit(exit_status());
}

static void
no_such_process(void)
{
	ask_processes("3@77");
}

static void
no_such_process_there(void)
{
	ask_processes("3@0:77");
}

static void
no_such_source(void)
{
	ask_processes("3@1:77");
}

static void
bad_range(void)
{
	OPTION(RANK, "7-3");
}

static void
bad_kind(void)
{
	OPTION(KIND, "kernel,kernels");
}

static void
says(void (*fn)(void), int status, const char *part)
{
	struct child c = child_run(fn);

	is_int(c.status, status, "status of: %s", part);
	if (!ok(strstr(c.err, part) != NULL, "says %s", part))
		diag("%s", c.err);
}

int
main(void)
{
	st = dict_create();
	err_program("tl-x");
	err_synopsis("");
	test_windows();
	test_gpu_time();
	test_phases();
	test_around();
	test_fields();
	test_ranks();
	says(no_such_step, EXIT_WARNINGS,
	    "a.tl has none of these steps: it has 3 to 5");
	says(no_such_annotation, EXIT_WARNINGS, "no annotation 'forward#4'");
	says(no_steps, EXIT_WARNINGS, "by --annotation GLOB");
	says(no_first, EXIT_NO_ANSWER, "does not say when it begins");
	says(bad_step, EXIT_USAGE, "first, last or slowest, not '3,newest'");
	says(bad_process, EXIT_USAGE, "3-7@PID");
	says(no_such_process, EXIT_WARNINGS,
	    "--step: no source has a process '77' with steps");
	says(no_such_process_there, EXIT_WARNINGS,
	    "a.tl: no process '77' has steps");
	says(no_such_source, EXIT_WARNINGS, "--step: there is no source 1");
	says(bad_range, EXIT_USAGE, "not '7-3'");
	says(bad_kind, EXIT_USAGE, "no kind of event 'kernels'");
	begin();
	dict_destroy(st);
	done_testing();
}
