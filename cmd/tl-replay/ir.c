/* SPDX-License-Identifier: MIT */
/* The IR, for scripts and other programs. */
#include "cmd/tl-replay/replay.h"
#include "json/json.h"

/* A member that is a string. */
static void
put_text(struct buf *out, const char *key, struct str s)
{
	buf_printf(out, ",\"%s\":", key);
	json_put_string(out, s);
}

/* the sum of many calls in ns, as us per call */
static void
put_us(struct buf *out, const char *key, int64_t ns, size_t calls)
{
	buf_printf(out, ",\"%s\":", key);
	put_real(out, (double)ns / (double)calls / 1e3);
}

static void
put_kernels(const struct replay *g, const struct op *op, struct buf *out)
{
	buf_puts(out, ",\"kernels\":[");
	for (size_t i = 0; i < op->nsums; i++) {
		const struct kernel_sum *k = &g->sums.v[op->first_sum + i];

		buf_puts(out, i > 0 ? ",{\"name\":" : "{\"name\":");
		json_put_string(out, dict_get(g->sink.dict, k->name));
		put_us(out, "us", k->dur_ns, op->nruns);
		buf_puts(out, ",\"calls\":");
		put_real(out, (double)k->n / (double)op->nruns);
		buf_putc(out, '}');
	}
	buf_putc(out, ']');
}

static void
put_triton(const struct replay *g, const struct triton *t, struct buf *out)
{
	static const char *const keys[TRITON_WORDS] = {
		[TRITON_FILE] = "kernel_file",
		[TRITON_NAME] = "name",
		[TRITON_KWARGS] = "kernel_kwargs",
		[TRITON_WARPS] = "num_warps",
		[TRITON_STAGES] = "num_stages",
		[TRITON_GRID] = "grid",
	};
	struct str word;
	int64_t n;

	buf_puts(out, ",\"triton\":{");
	for (int i = 0; i < TRITON_WORDS; i++) {
		if (t->words[i] == INTERN_NONE)
			continue;
		word = dict_get(g->sink.dict, t->words[i]);
		buf_printf(out, "\"%s\":", keys[i]);
		if (num_i64(word, &n))
			json_put_i64(out, n);
		else
			json_put_string(out, word);
		buf_putc(out, ',');
	}
	out->p[out->len - 1] = '}'; /* the list is never empty */
}

static void
put_op(const struct replay *g, const struct op *op, struct buf *out)
{
	struct buf uid = { 0 };

	buf_puts(out, "{\"op_name\":");
	json_put_string(out, op->form.name);
	buf_puts(out, ",\"overload\":");
	if (op->form.schema != NULL)
		json_put_string(out, op->form.schema->overload);
	else
		buf_puts(out, "null");
	uid_text(g, op->first, &uid);
	put_text(out, "uid", buf_str(&uid));
	buf_free(&uid);
	buf_printf(out, ",\"count\":%zu", op->nruns);
	put_us(out, "profile_us", op->gpu_ns, op->nruns);
	put_kernels(g, op, out);
	if (op->ir.len > 0) {
		buf_puts(out, ",\"replay_ir\":");
		buf_put(out, op->ir.p, op->ir.len);
	}
	if (op->backward_of.len > 0) {
		buf_puts(out, ",\"backward_of\":");
		buf_put(out, op->backward_of.p, op->backward_of.len);
	}
	if (op->triton != NULL)
		put_triton(g, op->triton, out);
	if (op->missing.len > 0)
		put_text(out, "missing", op->missing);
	buf_putc(out, '}');
}

static void
put_segment(const struct replay *g, struct buf *out)
{
	buf_puts(out, ",\n\"segment\":{\"name\":");
	json_put_string(out, g->segment_name);
	buf_puts(out, ",\"order\":[");
	for (size_t i = 0; i < g->order.n; i++)
		buf_printf(out, "%s%" PRIu32, i > 0 ? "," : "", g->order.v[i]);
	buf_puts(out, "]}");
}

void
ir_put(const struct replay *g, struct buf *out)
{
	const char *path = g->sink.sources.list.v[0].path;
	const char *slash = strrchr(path, '/');

	buf_puts(out, "{\"version\":2,\"device\":");
	json_put_string(out, dict_get(g->sink.dict, g->device));
	put_text(out, "source", str_of(slash != NULL ? slash + 1 : path));
	buf_puts(out, ",\"imports\":[");
	for (size_t i = 0; i < g->imports.n; i++) {
		buf_puts(out, i > 0 ? "," : "");
		json_put_string(out, g->imports.v[i]);
	}
	buf_puts(out, "],\n\"ops\":[");
	for (size_t i = 0; i < g->ops.n; i++) {
		buf_puts(out, i > 0 ? ",\n" : "\n");
		put_op(g, &g->ops.v[i], out);
	}
	buf_puts(out, "\n]");
	if (g->segment)
		put_segment(g, out);
	buf_puts(out, "}\n");
}

/* ---- TraceLens's form ---- */

static void
new_line(struct buf *out, unsigned depth)
{
	buf_puts(out, "\n");
	for (unsigned i = 0; i < depth; i++)
		buf_puts(out, "    ");
}

/* Indents JSON as Python does with indent=4. */
static void
put_indented(struct buf *out, struct str s)
{
	unsigned depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i], next = i + 1 < s.len ? s.p[i + 1] : '\0';

		if (in_string) {
			buf_putc(out, c);
			if (c == '\\')
				buf_putc(out, s.p[++i]);
			else if (c == '"')
				in_string = false;
			continue;
		}
		in_string = c == '"';
		if (c == ']' || c == '}')
			new_line(out, --depth);
		buf_putc(out, c);
		if (c == ':')
			buf_putc(out, ' ');
		else if ((c == '[' && next == ']') || (c == '{' && next == '}'))
			buf_putc(out, s.p[++i]);
		else if (c == '[' || c == '{')
			new_line(out, ++depth);
		else if (c == ',')
			new_line(out, depth);
	}
}

void
ir_v1_put(const struct replay *g, struct buf *out)
{
	struct buf all = { 0 }, one = { 0 }, why = { 0 };

	buf_putc(&all, '[');
	for (size_t i = 0; i < g->ops.n; i++) {
		const struct op *op = &g->ops.v[i];

		one.len = why.len = 0;
		if (op->form.schema == NULL ||
		    !form_put(g, &op->form, IR_V1, &one, &why))
			continue;
		buf_puts(
		    &all, all.len > 1 ? ",{\"op_name\":" : "{\"op_name\":");
		json_put_string(&all, op->form.name);
		buf_puts(&all, ",\"replay_ir\":");
		buf_put(&all, one.p, one.len);
		buf_printf(&all, ",\"count\":%zu}", op->nruns);
	}
	buf_putc(&all, ']');
	put_indented(out, buf_str(&all));
	buf_free(&all);
	buf_free(&one);
	buf_free(&why);
}
