/* SPDX-License-Identifier: MIT */
/*
 * tl-merge: many streams to one, on one clock.
 *
 * A filter: sources are kept apart and follow one another, and events go
 * through untouched. Only the base of each source is told anew, so that all
 * bases add up to times of the first one's clock: a source's facts are final
 * behind its events, so one pass is enough.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/trace.h"

extern char **environ;

enum align {
	ALIGN_BASE,
	ALIGN_COLLECTIVE,
	ALIGN_NONE,
};

struct input {
	const char *path;
	size_t no;
	/* of its first source, looked up before work begins */
	bool has_rank, has_epoch;
	int64_t rank, epoch;
};

struct settings {
	enum align align;
	bool sort_rank, verbose;
	struct select select;
	struct stream_dest dest;
};

struct merge {
	struct settings *set;
	struct strings *st;
	struct stream_out *out;
	struct numbering nb;
	VEC(struct input) inputs;
	struct map offsets; /* rank to offset of its clock, in ns */
	bool is_selective;  /* events are left out, not only sources */
	bool has_sections;
	/* of the first source */
	bool has_first, first_has_epoch;
	int64_t first_epoch;
	/* of the input at hand */
	const struct input *input;
	VEC(bool) unasked; /* by its source */
	enum section section;
	/* of the prologue: the windows are known behind it */
	VEC(struct event) waiting;
	struct arena *values; /* of what waits */
	uint64_t nevents;
};

enum {
	OPT_ALIGN = OPT_LONG,
	OPT_SORT,
};

static const struct opt options[] = {
	{ OPT_ALIGN, "align", "base|collective|none",
	    "how clocks are joined (base)" },
	OPT_SELECT,
	{ OPT_SORT, "sort", "given|rank", "the order of sources (given)" },
	OPT_STREAM_OUT,
	{ 'v', "verbose", NULL, "a summary on standard error" },
	OPT_END,
};

static const struct about about = {
	"many streams to one, on one clock",
	"[OPTION...] [FILE...]",
	"tl-merge rank*.json.gz | tl-export --to chrome -o all.json.gz",
};

/* ---- facts ---- */

static bool
int_fact(const struct source *s, const char *key, int64_t *v)
{
	const struct fact *f = source_fact(s, key);

	if (f == NULL)
		return false;
	if (f->val.type == VAL_INT)
		*v = f->val.i;
	return f->val.type == VAL_INT ||
	    (f->val.s.p != NULL && num_i64(f->val.s, v));
}

/* ---- clocks ---- */

/*
 * What to add to the source's base so that its times are those of the first
 * one's clock; in Unix time nothing changes but the offset.
 */
static int64_t
move_of(struct merge *m, const struct source *s)
{
	const struct input *input = m->input;
	const char *path = input->path;
	int64_t epoch = 0, rank, move = 0;
	bool has_epoch = int_fact(s, "epoch", &epoch);
	bool has_rank = int_fact(s, "rank", &rank);
	const uint64_t *offset;

	if (m->set->align == ALIGN_NONE)
		return 0;
	if (s->src == 0 && !has_epoch && input->has_epoch) {
		has_epoch = true;
		epoch = input->epoch;
	}
	if (s->src == 0 && !has_rank && input->has_rank) {
		has_rank = true;
		rank = input->rank;
	}
	if (!m->has_first && (has_epoch || s->is_final)) {
		m->has_first = true;
		m->first_has_epoch = has_epoch;
		m->first_epoch = epoch;
	}
	if (s->is_final && has_epoch != m->first_has_epoch)
		doubt("%s: %s the epoch of its clock, unlike the first source: "
		      "they are joined as they are",
		    path, has_epoch ? "it tells" : "it does not tell");
	if (has_epoch && m->first_has_epoch &&
	    __builtin_sub_overflow(epoch, m->first_epoch, &move))
		die("%s: its clock is too far from the first one's", path);
	if (has_rank && (offset = map_get(&m->offsets, (uint64_t)rank)) != NULL)
		move -= (int64_t)*offset;
	return move;
}

static void
write_source(struct merge *m, const struct source *in)
{
	VEC(struct fact) facts = { 0 };
	struct source s = *in;
	char base_text[24], epoch_text[24];
	int64_t move = move_of(m, in), base = 0;

	s.src = numbering_source(&m->nb, s.src);
	(void)int_fact(in, "base", &base);
	if (!num_add(base, move, &base))
		die("%s: its clock is out of range", m->input->path);
	for (size_t i = 0; i < in->nfacts; i++) {
		struct fact f = in->facts[i];

		if (move != 0 && str_eq(f.key, STR("base")))
			f.val = (struct value){ .type = VAL_STRX,
				.s = {
				    base_text, num_put_i64(base_text, base) } };
		if (move != 0 && str_eq(f.key, STR("epoch")))
			f.val = (struct value){ .type = VAL_STRX,
				.s = { epoch_text,
				    num_put_i64(epoch_text, m->first_epoch) } };
		vec_push(&facts, f);
	}
	/* for readers that name what they read before it ends */
	if (!in->is_final && in->src == 0 && m->input->has_rank &&
	    source_fact(in, "rank") == NULL)
		vec_push(&facts,
		    ((struct fact){ STR("rank"),
			{ .type = VAL_INT, .i = m->input->rank } }));
	if (move != 0 && source_fact(in, "base") == NULL)
		vec_push(&facts,
		    ((struct fact){ STR("base"),
			{ .type = VAL_STRX,
			    .s = {
				base_text, num_put_i64(base_text, base) } } }));
	s.facts = facts.v;
	s.nfacts = facts.n;
	stream_write_source(m->out, &s);
	vec_free(&facts);
}

/* ---- --align collective: tl-collective knows the offsets ---- */

static pid_t
start_collective(struct merge *m, int *fd)
{
	static const char *const fixed[] = { "--table", "nccl_clocks", "-c",
		"rank,offset_ns", "--no-header", "--format", "tsv",
		"--align-clocks", "--" };
	char *path = sys_program("tl-collective");
	VEC(char *) argv = { 0 };
	posix_spawn_file_actions_t fa;
	int fds[2], err;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		die_errno("pipe");
	vec_push(&argv, path);
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		vec_push(&argv, (char *)(uintptr_t)fixed[i]);
	for (size_t i = 0; i < m->inputs.n; i++) {
		if (strcmp(m->inputs.v[i].path, "-") == 0)
			die_usage("--align collective reads its inputs twice: "
				  "it needs files");
		vec_push(&argv, (char *)(uintptr_t)m->inputs.v[i].path);
	}
	vec_push(&argv, NULL);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fds[1], STDOUT_FILENO);
	err = posix_spawnp(&pid, path, &fa, NULL, argv.v, environ);
	if (err != 0) {
		errno = err;
		die_errno("tl-collective");
	}
	child_began(pid);
	posix_spawn_file_actions_destroy(&fa);
	close(fds[1]);
	vec_free(&argv);
	*fd = fds[0];
	return pid;
}

/* A line "RANK<tab>OFFSET"; no offset: nothing tells this rank's clock. */
static void
take_offset(struct merge *m, struct str line)
{
	const char *tab = memchr(line.p, '\t', line.len);
	int64_t rank, offset;
	size_t n = tab != NULL ? (size_t)(tab - line.p) : line.len;

	if (!num_i64((struct str){ line.p, n }, &rank))
		die("tl-collective gave a line that is none");
	if (tab == NULL ||
	    !num_i64((struct str){ tab + 1, line.len - n - 1 }, &offset)) {
		doubt("rank %" PRId64 ": no collective tells its clock", rank);
		return;
	}
	*map_put(&m->offsets, (uint64_t)rank, NULL) = (uint64_t)offset;
}

static void
find_offsets(struct merge *m)
{
	int fd, status;
	pid_t pid = start_collective(m, &fd);
	struct in *in = in_open_fd(fd, "tl-collective");
	const unsigned char *nl;

	for (;;) {
		nl = memchr(in->p, '\n', (size_t)(in->end - in->p));
		if (nl == NULL) {
			if (!in_more(in))
				break;
			continue;
		}
		take_offset(m,
		    (struct str){ (const char *)in->p, (size_t)(nl - in->p) });
		in->p = nl + 1;
	}
	in_close(in);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die_errno("waiting for tl-collective");
	child_ended(pid);
	if (!WIFEXITED(status) ||
	    (WEXITSTATUS(status) != EXIT_DONE &&
		WEXITSTATUS(status) != EXIT_DOUBT))
		die("tl-collective failed (above)");
	if (WEXITSTATUS(status) == EXIT_DOUBT)
		doubt("tl-collective had doubts (above)");
}

/* ---- order ---- */

/*
 * Many sources tell their epoch and rank behind their events, when what was
 * made of these is gone. So files are looked into first, as far as need be.
 */
static void
look_into(struct input *input)
{
	struct stream_in *in = stream_open_only(input->path, NULL, 0);
	enum item item;

	while ((!input->has_epoch || !input->has_rank) &&
	    (item = stream_next(in)) != ITEM_END) {
		if (item != ITEM_SOURCE)
			continue;
		if (in->source.src > 0)
			break;
		input->has_rank = int_fact(&in->source, "rank", &input->rank);
		input->has_epoch =
		    int_fact(&in->source, "epoch", &input->epoch);
	}
	stream_close(in);
}

static void
look_into_all(struct merge *m)
{
	for (size_t i = 0; i < m->inputs.n; i++) {
		bool is_stdin = strcmp(m->inputs.v[i].path, "-") == 0;

		if (is_stdin && m->set->sort_rank)
			die_usage("--sort rank reads its inputs twice: it "
				  "needs files");
		if (!is_stdin)
			look_into(&m->inputs.v[i]);
	}
}

static int
by_rank(const void *pa, const void *pb)
{
	const struct input *a = pa, *b = pb;

	if (a->has_rank != b->has_rank)
		return a->has_rank ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->no < b->no ? -1 : a->no > b->no;
}

/* ---- events ---- */

static bool
is_unasked(const struct merge *m, uint32_t src)
{
	return src < m->unasked.n && m->unasked.v[src];
}

static void
hold_event(struct merge *m, const struct event *ev)
{
	struct event held = *ev;

	if (ev->vals_len > 0)
		held.vals = (const unsigned char *)arena_str(m->values,
		    (struct str){ (const char *)ev->vals, ev->vals_len })
				.p;
	vec_push(&m->waiting, held);
}

static void
pass_event(struct merge *m, struct event ev, bool is_chosen)
{
	/* names of processes and threads always go along */
	if (is_unasked(m, ev.src) ||
	    (m->is_selective && !is_chosen && ev.shape->kind != KIND_META))
		return;
	numbering_event(&m->nb, &ev);
	stream_write(m->out, &ev);
	m->nevents++;
}

static void
pass_waiting(struct merge *m, const struct stream_in *in)
{
	struct stream_in again = *in;

	for (size_t i = 0; i < m->waiting.n; i++) {
		again.ev = m->waiting.v[i];
		pass_event(m, again.ev,
		    select_item(&m->set->select, &again, ITEM_EVENT));
	}
	m->waiting.n = 0;
	arena_reset(m->values, 0);
}

static void
take_event(struct merge *m, const struct stream_in *in, bool is_chosen)
{
	if (m->is_selective && m->section == SECTION_PROLOGUE)
		hold_event(m, &in->ev);
	else
		pass_event(m, in->ev, is_chosen);
}

static void
pass_item(struct merge *m, struct stream_in *in, enum item item)
{
	bool is_chosen = select_item(&m->set->select, in, item);
	uint32_t src;

	switch (item) {
	case ITEM_EVENT: take_event(m, in, is_chosen); break;
	case ITEM_SOURCE:
		src = in->source.src;
		while (m->unasked.n <= src)
			vec_push(&m->unasked, false);
		m->unasked.v[src] =
		    !select_source(&m->set->select, &in->source);
		if (!m->unasked.v[src])
			write_source(m, &in->source);
		break;
	case ITEM_META:
		if (!is_unasked(m, in->meta.src)) {
			struct meta meta = in->meta;

			meta.src = numbering_source(&m->nb, meta.src);
			stream_write_meta(m->out, &meta);
		}
		break;
	case ITEM_SECTION:
		pass_waiting(m, in);
		m->section = in->section;
		if (m->has_sections)
			stream_write_section(m->out, in->section);
		break;
	case ITEM_END: break;
	}
}

/* Trees only when the first is one: the others are led through tl-tree. */
static enum want
wanted(const struct merge *m, const struct input *input)
{
	enum want want = select_want(&m->set->select, WANT_STREAM);

	return input->no > 0 && m->has_sections ? WANT_TREE : want;
}

static void
open_output(struct merge *m, const struct stream_in *in)
{
	unsigned marks = in->marks;

	if (m->is_selective)
		marks = (marks & ~(unsigned)MARK_TREE) | MARK_EDITED;
	else if (m->inputs.n > 1 && (marks & MARK_TREE) == 0)
		marks &= ~(unsigned)MARK_LINKED;
	m->has_sections = (marks & MARK_TREE) != 0;
	m->out = stream_create(&m->set->dest, m->st, in, marks, false);
}

static void
pass_input(struct merge *m, const struct input *input)
{
	struct stream_in *in =
	    stream_open(input->path, m->st, wanted(m, input));
	enum item item;

	if (m->out == NULL)
		open_output(m, in);
	select_start(&m->set->select, in);
	m->input = input;
	numbering_input(&m->nb);
	m->unasked.n = 0;
	m->section = SECTION_NONE;
	while ((item = stream_next(in)) != ITEM_END)
		pass_item(m, in, item);
	pass_waiting(m, in);
	stream_mark(m->out, in->marks & ~(unsigned)(MARK_LINKED | MARK_TREE));
	stream_close(in);
}

/* ---- options ---- */

static void
take_option(struct settings *set, const struct optparse *op, int ch)
{
	static const char *const aligns[] = { "base", "collective", "none",
		NULL };
	static const char *const orders[] = { "given", "rank", NULL };

	switch (ch) {
	case OPT_ALIGN: set->align = (enum align)opt_word(op, aligns); break;
	case OPT_SORT: set->sort_rank = opt_word(op, orders) == 1; break;
	case 'v': set->verbose = true; break;
	default:
		if (!select_opt(&set->select, op, ch))
			(void)stream_dest_opt(&set->dest, op, ch);
		break;
	}
}

static bool
leaves_events_out(const struct select *s)
{
	return s->kinds != 0 || s->names.n > 0 || s->annotations.n > 0 ||
	    s->devs.ranges.n + s->devs.words.n > 0 ||
	    s->gpu_streams.ranges.n + s->gpu_streams.words.n > 0 ||
	    s->steps.ranges.n + s->steps.words.n > 0 || s->min_dur_ns > 0 ||
	    s->has_from || s->has_to;
}

int
main(int argc, char *argv[])
{
	struct settings set = { 0 };
	struct merge m = { .set = &set };
	double start_s = sys_wall_s();
	struct optparse op;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &op, ch);
	for (int i = op.ind; i < argc; i++)
		vec_push(&m.inputs,
		    ((struct input){
			.path = argv[i], .no = (size_t)(i - op.ind) }));
	if (m.inputs.n == 0)
		vec_push(&m.inputs, ((struct input){ .path = "-" }));
	m.is_selective = leaves_events_out(&set.select);
	m.st = strings_create();
	m.nb.strings = m.st;
	m.values = arena_create();
	if (set.sort_rank || (m.inputs.n > 1 && set.align != ALIGN_NONE))
		look_into_all(&m);
	if (set.sort_rank)
		qsort(m.inputs.v, m.inputs.n, sizeof *m.inputs.v, by_rank);
	if (set.align == ALIGN_COLLECTIVE)
		find_offsets(&m);
	for (size_t i = 0; i < m.inputs.n; i++) {
		m.inputs.v[i].no = i;
		pass_input(&m, &m.inputs.v[i]);
	}
	stream_finish(m.out);
	if (set.verbose)
		note("%zu inputs, %" PRIu32 " sources, %" PRIu64
		     " events, %.3f s, %.1f MB",
		    m.inputs.n, m.nb.next, m.nevents, sys_wall_s() - start_s,
		    (double)sys_peak_bytes() / 1e6);
	return exit_status();
}
