/* SPDX-License-Identifier: MIT */
/* Files for other programs: traces of both sides, and reports as JSON. */
#include "cmd/tl-match/match.h"
#include "trace/window.h"
#include "json/json.h"

/* ---- traces ---- */

/* DIR/decode_only/decode_only_best_A4_B2_A_prefill_0_..._BASE.tl */
static char *
path_of(const struct program *p, const struct match *m, int side)
{
	const struct match_block *x = match_block_of(&p->found, m, side);
	const struct window w = { x->first, (size_t)x->first + x->n };
	struct window_summary sum = window_sum(p->found.side[side].v, &w);
	const char *phase = phase_name(p->set, x->phase);
	struct buf path = { 0 }, b = { 0 };
	size_t name;
	struct str base;

	buf_printf(&b, "%s_best_A%u_B%u_%c%c", phase, (unsigned)m->block[0],
	    (unsigned)m->block[1], 'A' + side, 0);
	buf_printf(&path, "%s/%s/", p->set->dest.dir, phase);
	name = path.len;
	window_put_name(&path, b.p, &sum);
	buf_putc(&path, '_');
	base = trace_name(p, side, &b);
	buf_put(&path, base.p, base.len);
	window_end_name(&path, name, p->set->is_chrome ? ".json.gz" : ".tl");
	buf_putc(&path, '\0');
	buf_free(&b);
	return path.p;
}

/*
 * Writes the steps of the block with all threads' work, by the program that
 * selects them.
 */
static void
extract(
    const struct program *p, const struct match *m, int side, const char *path)
{
	const char *program = p->set->is_chrome ? "tl-export" : "tl-filter";
	const char *from = trace_of(p, side)->path;
	struct buf steps = { 0 };
	char *argv[] = { sys_program(program), NULL, (char *)"-o", (char *)path,
		(char *)"--", (char *)from, NULL };
	pid_t pid;

	buf_puts(&steps, "--step=iteration:");
	match_put_steps(&steps, &p->found, m, side, p->st);
	buf_putc(&steps, '\0');
	argv[1] = steps.p;
	pid = child_spawn(argv, -1, -1);
	if (pid < 0)
		die_errno("%s", program);
	if (child_has_warned(from, program, child_wait(pid)))
		report(MSG_HELPER_WARNED, from, program);
	vec_release(argv[0]);
	buf_free(&steps);
}

void
extract_all(struct program *p)
{
	struct buf dir = { 0 };

	io_make_folder(p->set->dest.dir);
	for (size_t i = 0; i < p->found.list.n; i++) {
		const struct match *m = &p->found.list.v[i];
		struct extract *to = vec_add(&p->extracts);

		dir.len = 0;
		buf_printf(&dir, "%s/%s%c", p->set->dest.dir,
		    phase_name(p->set, match_block_of(&p->found, m, 0)->phase),
		    0);
		io_make_folder(dir.p);
		for (int s = 0; s < MATCH_SIDES; s++) {
			to->path[s] = path_of(p, m, s);
			extract(p, m, s, to->path[s]);
		}
	}
	buf_free(&dir);
}

/* ---- reports ---- */

static void
put_double(struct buf *b, double v)
{
	char text[64];

	buf_put(b, text, num_put_double(text, v));
}

/* ,"KEY": within an object that has a member already */
static void
put_key(struct buf *b, const char *key)
{
	buf_printf(b, ",\"%s\":", key);
}

static void
put_text(struct buf *b, const char *key, struct str s)
{
	put_key(b, key);
	json_put_string(b, s);
}

static void
put_int(struct buf *b, const char *key, int64_t v)
{
	put_key(b, key);
	json_put_i64(b, v);
}

static void
put_steps(struct buf *b, const struct program *p, const struct match_block *x,
    int side)
{
	/* of loads[] */
	static const char *const keys[NLOADS] = { "num_context",
		"num_generation", "c_sq", "c_sk", "g_sq", "g_sk" };
	const struct match_trace *t = trace_of(p, side);

	put_key(b, "steps");
	for (uint32_t i = x->first; i < x->first + x->n; i++) {
		buf_printf(
		    b, "%s{\"step\":%u", i > x->first ? "," : "[", (unsigned)i);
		put_text(b, "name", dict_get(p->st, t->steps.v[i].name));
		for (size_t k = 0; k < NLOADS; k++)
			put_int(b, keys[k], load_of(&t->iterations.v[i], k));
		buf_putc(b, '}');
	}
	buf_putc(b, ']');
}

static void
put_side(struct buf *b, const struct program *p, size_t no, int side)
{
	const struct match *m = &p->found.list.v[no];
	const struct match_block *x = match_block_of(&p->found, m, side);
	struct buf name = { 0 };

	put_key(b, side == 0 ? "TraceA" : "TraceB");
	buf_printf(b, "{\"block_index\":%u", (unsigned)m->block[side]);
	put_text(b, "trace", trace_name(p, side, &name));
	put_text(b, "output_path", str_of(p->extracts.v[no].path[side]));
	for (size_t i = 0; i < NLOADS; i++) {
		put_key(b, loads[i].json);
		put_double(b, mean_of(p, m, side, i));
	}
	put_int(b, "start", x->first);
	put_int(b, "end", (int64_t)x->first + x->n);
	put_int(b, "num_steps", x->n);
	put_int(b, "original_num_steps", x->run_n);
	put_key(b, "truncated");
	buf_puts(b, x->n != x->run_n ? "true" : "false");
	put_steps(b, p, x, side);
	buf_putc(b, '}');
	buf_free(&name);
}

static void
put_match(struct buf *b, const struct program *p, size_t no)
{
	const struct match *m = &p->found.list.v[no];

	buf_printf(b, "{\"match_id\":%zu", no);
	put_text(b, "phase",
	    str_of(phase_name(p->set, match_block_of(&p->found, m, 0)->phase)));
	put_int(b, "num_steps", m->n);
	put_key(b, "distance");
	for (size_t i = 0; i < ndistances(p, m); i++) {
		buf_putc(b, i > 0 ? ',' : '[');
		put_double(b, distance_of(m, i));
	}
	buf_putc(b, ']');
	for (int s = 0; s < MATCH_SIDES; s++)
		put_side(b, p, no, s);
	buf_putc(b, '}');
}

/* Writes phases without a match. */
static void
put_notes(struct buf *b, const struct program *p)
{
	const struct match_query *q = &p->set->query;
	const char *between = "";

	for (size_t i = 0; i < q->nphases; i++) {
		if (match_has_phase(&p->found, q->phases[i]))
			continue;
		buf_printf(b, "%s{\"phase\":\"%s\",\"reason\":\"", between,
		    phase_name(p->set, q->phases[i]));
		match_put_reason(b, &p->found.tallies[i]);
		buf_puts(b, "\"}");
		between = ",\n";
	}
}

static void
write_list(const struct program *p, const char *name, const struct buf *items)
{
	struct buf path = { 0 };
	struct out *out;

	buf_printf(&path, "%s/%s%c", p->set->dest.dir, name, 0);
	out = out_open(path.p);
	out_puts(out, "[");
	out_str(out, buf_str(items));
	out_puts(out, "]\n");
	out_finish(out);
	buf_free(&path);
}

void
reports_write(const struct program *p)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < p->found.list.n; i++) {
		buf_puts(&b, i > 0 ? ",\n" : "");
		put_match(&b, p, i);
	}
	write_list(p, "match_report.json", &b);
	b.len = 0;
	put_notes(&b, p);
	write_list(p, "match_notes.json", &b);
	buf_free(&b);
}
