/* SPDX-License-Identifier: MIT */
/* Writes scripts, their IR, and bundles of both. */
#include <zip.h>

#include "cmd/tl-replay/bench.h"
#include "cmd/tl-replay/replay.h"
#include "json/json.h"

/* A file of this folder, compiled in. */
static struct str
file_of(const char *name)
{
	size_t i = 0;

	while (strcmp(tl_replay_data[i].name, name) != 0)
		i++;
	return (struct str){ (const char *)tl_replay_data[i].bytes,
		tl_replay_data[i].len };
}

/*
 * The IR as a Python string literal, a line each. JSON strings are valid Python
 * strings, so nothing of a trace becomes code.
 */
static void
put_literal(struct buf *out, struct str ir)
{
	const char *end = ir.p + ir.len, *line_end;

	buf_puts(out, "IR = (\n");
	for (const char *p = ir.p; p < end; p = line_end) {
		line_end = memchr(p, '\n', (size_t)(end - p));
		line_end = line_end != NULL ? line_end + 1 : end;
		json_put_string(out, (struct str){ p, (size_t)(line_end - p) });
		buf_putc(out, '\n');
	}
	buf_puts(out, ")\n\n");
}

static void
put_script(const struct replay *g, struct buf *out)
{
	static const char *const files[] = { "ops.py", "replay.py" };
	struct buf ir = { 0 };

	ir_put(g, &ir);
	buf_puts(out, "#!/usr/bin/env python3\n");
	put_literal(out, buf_str(&ir));
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct str py = file_of(files[i]);

		buf_put(out, py.p, py.len);
	}
	buf_free(&ir);
}

typedef void put_fn(const struct replay *g, struct buf *out);

static bool
write_file(const struct replay *g, const char *path, put_fn *put)
{
	struct buf text = { 0 };
	struct out *out;

	if (path == NULL)
		return false;
	put(g, &text);
	out = out_open(path);
	out_str(out, buf_str(&text));
	out_finish(out);
	buf_free(&text);
	return true;
}

/* ---- a bundle ---- */

static const char readme[] =
    "Ops of a GPU profiler trace, to run again.\n"
    "\n"
    "    python3 replay.py                 time all ops\n"
    "    python3 replay.py --check         compare kernels with the recorded\n"
    "    python3 replay.py --json r.json   results, for tl-replay --compare\n"
    "    python3 replay.py --help          all options\n"
    "\n"
    "replay.py needs PyTorch alone. ops.json is what it holds, for programs.\n";

static void
add_member(zipFile zip, const char *path, const char *name, struct str text)
{
	/*
	 * a fixed date, so that equal input gives equal bytes: the first of
	 * zip's
	 */
	zip_fileinfo info = { .tmz_date = { 0, 0, 0, 1, 0, 1980 } };

	if (text.len > UINT32_MAX)
		die("%s: too much for a zip member: choose fewer ops", path);
	if (zipOpenNewFileInZip(zip, name, &info, NULL, 0, NULL, 0, NULL,
		Z_DEFLATED, Z_DEFAULT_COMPRESSION) != ZIP_OK ||
	    zipWriteInFileInZip(zip, text.p, (unsigned)text.len) != ZIP_OK ||
	    zipCloseFileInZip(zip) != ZIP_OK)
		die("%s: cannot write the zip file", path);
}

static bool
write_zip(const struct replay *g)
{
	struct buf script = { 0 }, ir = { 0 };
	struct out *out;
	zipFile zip;

	if (g->zip == NULL)
		return false;
	out = out_open(g->zip);
	if (out_tmp_name(out) == NULL)
		die_usage("option '--zip' needs a file to write");
	zip = zipOpen64(out_tmp_name(out), APPEND_STATUS_CREATE);
	if (zip == NULL)
		die("%s: cannot write the zip file", g->zip);
	put_script(g, &script);
	ir_put(g, &ir);
	add_member(zip, g->zip, "replay.py", buf_str(&script));
	add_member(zip, g->zip, "ops.json", buf_str(&ir));
	add_member(zip, g->zip, "README.txt", str_of(readme));
	if (zipClose(zip, NULL) != ZIP_OK)
		die("%s: cannot write the zip file", g->zip);
	out_finish(out);
	buf_free(&script);
	buf_free(&ir);
	return true;
}

/* Warns of ops that the script will not run. */
static void
warn_missing(const struct replay *g)
{
	const struct op *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < g->ops.n; i++) {
		if (g->ops.v[i].missing.len == 0)
			continue;
		if (n++ == 0)
			first = &g->ops.v[i];
	}
	if (n > 0)
		report(MSG_NOT_REPLAYED, n, g->ops.n, first->form.name,
		    first->missing);
}

static void
put_one(const struct replay *g, struct buf *out)
{
	struct str py = file_of("one.py");

	buf_puts(out, "#!/usr/bin/env python3\n");
	buf_put(out, py.p, py.len);
	one_put(g, out);
}

/* Writes a line per product, or a comment saying what the tool cannot do. */
static void
put_bench(const struct replay *g, struct buf *out)
{
	struct buf why = { 0 };

	for (size_t i = 0; i < g->ops.n; i++) {
		const struct op *op = &g->ops.v[i];
		const struct form *f = &op->form;

		if (!bench_is_product(f->name))
			continue;
		why.len = 0;
		if (op->missing.len > 0)
			buf_put(&why, op->missing.p, op->missing.len);
		else
			(void)!bench_line(out, (size_t)g->bench, f->name,
			    f->schema, &f->args, &why);
		if (why.len > 0) {
			buf_puts(out, "# ");
			text_visible(f->name, out);
			buf_puts(out, ": ");
			text_visible(buf_str(&why), out);
		}
		buf_putc(out, '\n');
	}
	buf_free(&why);
	if (out->len == 0)
		die_nothing(
		    g->ops.n == g->top ? MSG_NO_PRODUCT_ON_TOP : MSG_NO_PRODUCT,
		    g->sink.sources.path, g->ops.n);
}

bool
write_asked(struct replay *g)
{
	const char *path = g->sink.dest.path;
	bool any = write_file(g, g->script, put_script);

	any |= write_file(g, g->ir, ir_put);
	any |= write_file(g, g->ir_v1, ir_v1_put);
	any |= write_zip(g);
	if (any)
		warn_missing(g);
	if (g->bench >= 0)
		any |= write_file(g, path != NULL ? path : "-", put_bench);
	if (g->one)
		any |= write_file(g, path != NULL ? path : "-", put_one);
	return any;
}
