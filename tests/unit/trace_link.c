/* SPDX-License-Identifier: MIT */
/* Launch to GPU work, forward to backward, B to E, and the sort. */
#include "tests/unit/trace_help.h"

#define OP KIND_OP
#define RT KIND_RUNTIME
#define KE KIND_KERNEL
#define WRAP "autograd::engine::evaluate_function: AddmmBackward0"
#define WRAP_CUSTOM                             \
	"autograd::engine::evaluate_function: " \
	"torch::autograd::CppNode<LookUp_Dense>"
#define LAUNCH "cudaLaunchKernel"
#define ARROW(ph_, tid_, us, id_, cat_)                                \
	RX(KIND_FLOW, cat_, tid_, us, us, .ph = (ph_), .arrow = (id_), \
	    .cat = (cat_))

/* The launch of each GPU event, as "4<3 5<3 6" and the marks. */
static const char *
links_text(struct store *s)
{
	static struct buf text;

	text.len = 0;
	for (uint32_t i = 0; i < store_count(s); i++) {
		struct event ev = event_at(s, i);

		if (!event_is(&ev, KINDS_GPU))
			continue;
		if (text.len > 0)
			buf_puts(&text, " ");
		buf_printf(&text, "%" PRIu64, ev.uid.id);
		if (ev.shape->has & HAS_LAUNCH)
			buf_printf(&text, "<%" PRIu64, ev.launch.id);
		if (ev.flags & EV_UNLINKED)
			buf_puts(&text, "?");
		if (ev.flags & EV_DUPLICATE)
			buf_puts(&text, "=");
	}
	buf_putc(&text, '\0');
	return text.p;
}

static void
is_linked(const struct row *rows, size_t n, enum link_by by, bool is_api_trace,
    const char *want, const char *what)
{
	struct link_stats link = { 0 };
	struct store *s = store_of(rows, n, is_api_trace);

	store_link(s, by, &link);
	is_str(links_text(s), want, "%s", what);
	store_destroy(s);
}

#define LINKED(rows, by, want, what) \
	is_linked(rows, NROWS(rows), by, false, want, what)

static void
test_correlation(void)
{
	static const struct row rows[] = {
		RX(KE, "before its launch", 9, 60, 70, .corr = 1),
		RX(RT, LAUNCH, 1, 0, 10, .corr = 1),
		RX(RT, "cudaGraphLaunch", 1, 10, 20, .corr = 2),
		RX(KE, "a", 9, 80, 90, .corr = 2),
		RX(KE, "b", 9, 75, 80, .corr = 2),
		RX(RT, LAUNCH, 1, 12, 19, .corr = 2),
		RX(KE, "no launch", 9, 90, 91, .corr = 3),
		R(KE, "no id", 9, 91, 92),
		RX(KIND_SYNC, "Event Sync", 9, 92, 93, .corr = 4),
		RX(RT, "cudaEventSynchronize", 1, 30, 40, .corr = 4),
		RX(KIND_MEMSET, "Memset", 9, 95, 96, .corr = 5),
		RX(RT, "hipMemsetAsync", 1, 40, 50, .corr = 5),
	};
	static const struct row processes[] = {
		RX(RT, LAUNCH, 1, 0, 10, .corr = 1, .pid = 1),
		RX(RT, LAUNCH, 1, 0, 10, .corr = 1, .pid = 2),
		RX(KE, "k", 9, 20, 30, .corr = 1, .pid = 2),
		RX(KE, "k", 9, 20, 30, .corr = 1, .pid = 1),
	};

	LINKED(rows, LINK_DEFAULT, "0<1 3<2 4<2 6? 7? 10<11",
	    "by correlation; a call within one of its id is no other");
	is_linked(processes, NROWS(processes), LINK_DEFAULT, true, "2<1 3<0",
	    "an API trace: ids are those of a process");
	is_linked(processes, NROWS(processes), LINK_DEFAULT, false, "2? 3?",
	    "elsewhere the pid of GPU work is the device");
}

/* Once cudaDeviceSynchronize owned GPU work if its id was a launch's. */
static void
test_what_launches(void)
{
	static const struct row rows[] = {
		RX(RT, "cudaDeviceSynchronize", 1, 0, 5, .corr = 1),
		RX(RT, LAUNCH, 1, 10, 15, .corr = 1),
		RX(KE, "a", 9, 20, 30, .corr = 1),
		RX(RT, "cudaMalloc", 1, 30, 35, .corr = 2),
		RX(KE, "b", 9, 40, 50, .corr = 2),
		RX(RT, "cudaNewWayToLaunch", 1, 50, 55, .corr = 3),
		RX(KE, "c", 9, 60, 70, .corr = 3),
	};
	struct link_stats link = { 0 };
	struct store *s = store_of(rows, NROWS(rows), false);

	store_link(s, LINK_DEFAULT, &link);
	is_str(links_text(s), "2<1 4? 6<5", "calls that launch nothing");
	is_uint(link.no_launch, 1, "what has the id of such a call");
	is_uint(link.unlinked, 1, "is unlinked");
	store_destroy(s);
}

/* Once ids that began anew went to the first call, without a warning. */
static void
test_shared_ids(void)
{
	static const struct row by_time[] = {
		RX(RT, "cudaGraphLaunch", 1, 0, 10, .corr = 1),
		RX(KE, "a", 9, 20, 30, .corr = 1),
		RX(KE, "b", 9, 30, 40, .corr = 1),
		RX(RT, LAUNCH, 1, 100, 110, .corr = 1),
		RX(KE, "either", 9, 120, 130, .corr = 1),
	};
	static const struct row by_order[] = {
		RX(RT, LAUNCH, 1, 0, 10, .corr = 1),
		RX(RT, LAUNCH, 1, 20, 30, .corr = 1),
		RX(RT, LAUNCH, 2, 40, 50, .corr = 1),
		RX(KE, "c", 9, 80, 90, .corr = 1),
		RX(KE, "a", 9, 60, 70, .corr = 1),
		RX(KE, "b", 9, 70, 80, .corr = 1),
	};
	static const struct row overlap[] = {
		RX(RT, LAUNCH, 1, 0, 10, .corr = 1),
		RX(RT, LAUNCH, 2, 5, 15, .corr = 1),
		RX(KE, "a", 9, 60, 70, .corr = 1),
		RX(KE, "b", 9, 70, 80, .corr = 1),
	};
	struct link_stats link = { 0 };
	struct store *s = store_of(overlap, NROWS(overlap), false);

	LINKED(by_time, LINK_DEFAULT, "1<0 2<0 4?",
	    "one id twice: by what was before the second call");
	LINKED(by_order, LINK_DEFAULT, "3<2 4<0 5<1",
	    "one id thrice: by order on the GPU stream");
	store_link(s, LINK_DEFAULT, &link);
	is_str(links_text(s), "2? 3?", "calls side by side prove nothing");
	is_uint(link.ambiguous, 2, "what they launched is counted");
	store_destroy(s);
}

static void
test_duplicates(void)
{
	static const struct row rows[] = {
		RX(RT, LAUNCH, 1, 0, 10, .corr = 1),
		RX(KE, "k", 9, 60, 70, .corr = 1),
		RX(KE, "k", 9, 60, 70, .corr = 1),
		RX(KE, "k", 8, 60, 70, .corr = 1),
		RX(KE, "l", 9, 60, 70, .corr = 1),
		RX(KE, "k", 9, 60, 71, .corr = 1),
		RX(KE, "k", 9, 60, 70, .corr = 2),
		RX(KE, "k", 9, 60, 70, .corr = 1),
		R(KE, "k", 9, 60, 70),
		R(KE, "k", 9, 60, 70),
	};
	struct link_stats link = { 0 };
	struct tree_stats tree = { 0 };
	struct store *s = store_of(rows, NROWS(rows), false);

	store_link(s, LINK_DEFAULT, &link);
	is_str(links_text(s), "1<0 2= 3<0 4<0 5<0 6? 7= 8? 9=",
	    "all but the first of equal ones are duplicates");
	is_uint(link.duplicates, 3, "they are counted");
	tree_build(s, &(struct tree_opts){ 0 }, &tree);
	is_str(tree_text(s), "0(1 3 4 5) | 2 6 7 8 9", "and stand in the tail");
	store_destroy(s);
}

static void
test_arrows(void)
{
	static const struct row by_ext[] = {
		RX(RT, LAUNCH, 1, 0, 10, .ext = 5),
		RX(KE, "k", 9, 20, 30, .ext = 5),
		ARROW('s', 1, 0, 5, "ac2g"),
		ARROW('f', 9, 20, 5, "ac2g"),
		RX(RT, LAUNCH, 1, 10, 20, .ext = 6),
		RX(KE, "no arrow", 9, 30, 40, .ext = 6),
		RX(RT, "hipGraphLaunch", 1, 30, 40, .ext = 7),
		RX(KE, "a", 9, 50, 60, .ext = 7),
		RX(KE, "b", 9, 60, 70, .ext = 7),
	};
	static const struct row by_flow[] = {
		RX(RT, LAUNCH, 1, 0, 10, .corr = 5, .cat = "cuda_runtime"),
		RX(KE, "k", 9, 20, 30, .corr = 5, .cat = "kernel"),
		ARROW('s', 1, 0, 5, "ac2g"),
		ARROW('f', 9, 20, 5, "ac2g"),
		RX(RT, "hipMemsetAsync", 1, 10, 20, .corr = 6,
		    .cat = "cuda_runtime"),
		RX(KIND_MEMSET, "m", 9, 30, 40, .corr = 6, .cat = "gpu_memset"),
		ARROW('f', 1, 10, 6, "ac2g"),
		ARROW('f', 9, 30, 6, "ac2g"),
		RX(RT, LAUNCH, 1, 40, 50, .corr = 7, .cat = "cuda_runtime"),
		RX(KE, "two arrows", 9, 60, 70, .corr = 7, .cat = "kernel"),
		RX(KE, "the last counts", 9, 70, 80, .corr = 7,
		    .cat = "kernel"),
		ARROW('s', 1, 40, 7, "ac2g"),
		ARROW('f', 9, 60, 7, "ac2g"),
	};

	LINKED(by_ext, LINK_DEFAULT, "1<0 5? 7<6 8<6",
	    "no correlation: arrows by external id");
	LINKED(by_ext, LINK_EXT, "1<0 5? 7<6 8<6", "the same, asked for");
	LINKED(by_flow, LINK_FLOW, "1<0 5? 9? 10<8",
	    "E: the reference finds no memset without an s");
	LINKED(by_flow, LINK_DEFAULT, "1<0 5<4 9<8 10<8", "E: but we do");
}

/* The forward op of each wrapper, as "3>1 4". */
static void
is_back(const struct row *rows, size_t n, bool tree, const char *want,
    const char *what)
{
	struct link_stats link = { 0 };
	struct tree_stats stats = { 0 };
	struct store *s = store_of(rows, n, false);
	struct buf text = { 0 };
	uint64_t marks = 0;

	store_link(s, LINK_DEFAULT, &link);
	if (tree)
		tree_build(s, &(struct tree_opts){ 0 }, &stats);
	store_link_backward(s, &link);
	for (uint32_t i = 0; i < n; i++) {
		struct event ev = event_at(s, i);

		marks |= ev.flags;
		if ((ev.shape->has & HAS_FWD) == 0)
			continue;
		buf_printf(&text, "%s%" PRIu64 ">%" PRIu64,
		    text.len > 0 ? " " : "", ev.uid.id, ev.fwd.id);
		if (event_at(s, (uint32_t)ev.fwd.id).bwd.id != ev.uid.id)
			buf_puts(&text, "!");
	}
	buf_putc(&text, '\0');
	is_str(text.p, want, "%s%s", what, tree ? ", in a tree" : "");
	if (!tree)
		is_uint(marks, 0, "%s: linking nests nothing", what);
	buf_free(&text);
	store_destroy(s);
}

static void
test_backward(void)
{
	static const struct row numbers[] = {
		RX(OP, "aten::linear", 1, 0, 100, .seq = 7),
		RX(OP, "aten::addmm", 1, 10, 90, .seq = 7),
		RX(OP, WRAP, 2, 200, 300, .seq = 7),
		RX(OP, "AddmmBackward0", 2, 210, 290, .seq = 7),
		RX(OP, WRAP, 2, 300, 400, .seq = 7),
		RX(OP, "alone", 1, 110, 120, .seq = 8),
		RX(OP, WRAP, 1, 500, 600, .seq = 9),
		RX(OP, "same thread", 1, 490, 499, .seq = 9),
	};
	static const struct row arrows[] = {
		R(OP, "outer", 1, 0, 100),
		RX(OP, "aten::mul", 1, 0, 90, .seq = 5),
		R(OP, "inner", 1, 0, 80),
		RX(OP, WRAP, 1, 200, 300, .seq = 5),
		RX(OP, "MulBackward0", 1, 210, 290, .seq = 5),
		ARROW('s', 1, 0, 1, "fwdbwd"),
		ARROW('f', 1, 210, 1, "fwdbwd"),
		/* overlaps, and would be discarded in a tree */
		R(OP, "crossing", 1, 50, 150),
	};
	static const struct row threads[] = {
		RX(OP, "one", 1, 0, 10, .seq = 5),
		RX(OP, "two", 2, 5, 15, .seq = 5),
		RX(OP, WRAP, 3, 20, 30, .seq = 5, .fwd_thread = 1),
		RX(OP, "B", 3, 21, 29, .seq = 5, .fwd_thread = 1),
		RX(OP, WRAP, 3, 40, 50, .seq = 5, .fwd_thread = 2),
		RX(OP, "B", 3, 41, 49, .seq = 5, .fwd_thread = 2),
		ARROW('s', 1, 0, 1, "fwdbwd"),
		ARROW('f', 3, 21, 1, "fwdbwd"),
		ARROW('s', 2, 5, 2, "fwdbwd"),
		ARROW('f', 3, 41, 2, "fwdbwd"),
	};

	/* ops of PyTorch's make no CppNode; other threads, later numbers and
	 * ops before the number's last one don't count */
	static const struct row customs[] = {
		R(OP, "lib::look_up_dense", 1, 0, 5),
		RX(OP, "aten::zero_", 1, 10, 20, .seq = 5),
		R(OP, "lib::offsets", 1, 20, 25),
		R(OP, "lib::look_up_dense_fast", 1, 26, 27),
		R(OP, "lib::look_up_dense", 1, 30, 40),
		R(OP, "lib::look_up_dense", 1, 31, 39),
		RX(OP, "aten::view", 1, 50, 55, .seq = 6),
		R(OP, "lib::look_up_dense_op", 1, 60, 70),
		R(OP, "lib::look_up_dense_op", 2, 35, 45),
		RX(OP, WRAP_CUSTOM, 3, 100, 110, .seq = 5),
	};
	static const struct row own[] = {
		RX(OP, "lib::look_up", 1, 10, 20, .seq = 5),
		R(OP, "lib::look_up_dense", 1, 30, 40),
		RX(OP, WRAP_CUSTOM, 3, 100, 110, .seq = 5),
	};
	static const struct row none[] = {
		RX(OP, "aten::zero_", 1, 10, 20, .seq = 5),
		R(OP, "lib::dense", 1, 30, 40),
		RX(OP, WRAP_CUSTOM, 3, 100, 110, .seq = 5),
	};

	is_back(numbers, NROWS(numbers), false, "2>1",
	    "the first wrapper, and the latest op of another thread");
	is_back(arrows, NROWS(arrows), false, "3>1", "by arrow");
	is_back(arrows, NROWS(arrows) - 1, true, "3>1", "by arrow");
	is_back(threads, NROWS(threads), false, "2>0 4>1",
	    "one number on two forward threads");
	is_back(threads, NROWS(threads), true, "2>0 4>1",
	    "one number on two forward threads");
	is_back(customs, NROWS(customs), false, "9>4",
	    "an extension's op without a number");
	is_back(own, NROWS(own), false, "2>0", "one with a number");
	is_back(none, NROWS(none), false, "2>0", "one that isn't found");
}

static void
test_pairs(void)
{
	static const struct row rows[] = {
		RX(OP, "a", 1, 0, 0, .ph = 'B'),
		RX(OP, "b", 1, 10, 10, .ph = 'B'),
		RX(KIND_END, "", 2, 11, 11, .ph = 'E'),
		RX(KIND_END, "", 1, 20, 20, .ph = 'E'),
		RX(KIND_END, "", 1, 30, 30, .ph = 'E'),
		RX(OP, "c", 1, 40, 40, .ph = 'B'),
		R(OP, "inside b", 1, 12, 15),
		RX(OP, "d", 3, 50, 50, .ph = 'B'),
		RX(KIND_END, "before its B", 3, 40, 40, .ph = 'E'),
	};
	struct tree_stats tree;
	struct link_stats link;
	struct store *s =
	    tree_of(rows, NROWS(rows), &(struct tree_opts){ 0 }, &tree, &link);

	is_str(tree_text(s), "0(1(6)) 5 7 | 2 3 4 8", "pairs are slices");
	is_int(event_at(s, 0).dur_ns, 30000, "the outer pair");
	is_int(event_at(s, 1).dur_ns, 10000, "the inner pair");
	ok((event_at(s, 0).shape->has & HAS_DUR) != 0, "a B has a duration");
	is_uint(event_at(s, 0).flags, EV_PAIRED, "the B's mark");
	is_uint(event_at(s, 4).flags, EV_PAIRED, "the E's mark");
	is_uint(event_at(s, 2).flags, 0, "an E without B has none");
	is_uint(event_at(s, 5).flags, EV_UNCLOSED, "a B without E");
	is_int(event_at(s, 7).dur_ns, 0, "never a negative duration");
	store_destroy(s);
}

static void
test_sort(void)
{
	static struct held items[3000];
	static uint32_t order[3000];
	u32_big scratch = { 0 };
	uint64_t x = 1;
	int wrong = 0;

	for (int round = 0; round < 60; round++) {
		size_t n = (size_t)(round * round) % 3000;
		uint64_t spread = round % 3 == 0 ? 4 : 1000000;

		for (uint32_t i = 0; i < n; i++) {
			x = x * UINT64_C(6364136223846793005) + 1;
			items[i].ts_ns = round % 4 == 1
			    ? (int64_t)(i % 1000)
			    : (int64_t)((x >> 33) % spread);
			items[i].dur_ns = (int64_t)((x >> 40) % 3);
			order[i] = i;
		}
		sort_items(items, order, n, &scratch);
		for (size_t k = 1; k < n; k++)
			wrong += !item_before(items, order[k - 1], order[k]);
	}
	is_int(wrong, 0, "sorted: random, few times, four runs");
	big_release(&scratch);
}

int
main(void)
{
	test_correlation();
	test_what_launches();
	test_shared_ids();
	test_duplicates();
	test_arrows();
	test_backward();
	test_pairs();
	test_sort();
	dict_destroy(names);
	done_testing();
}
