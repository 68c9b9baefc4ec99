/* SPDX-License-Identifier: MIT */
/*
 * model-eval [--models FILE] [--check FILE] [--arch NAME] [--time]: op models
 * on lines of ops.
 *
 * A line has, separated by tabs: way (fwd, bwd), name, Input Dims, Input type,
 * Input Strides, Concrete Inputs, names of kernels, annotation, further
 * arguments, name and lists of the forward op (five fields), hlo. Lists are
 * JSON; further arguments are key=text;key=text. Missing fields are empty. Each
 * line gives one of JSON. --time prints how long it took, twice. --check runs
 * the examples in a file of models instead, --arch shows a GPU.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model/model.h"
#include "tests/tools/model-check.h"
#include "json/json.h"

#define FIELDS 15

struct line {
	struct str f[FIELDS];
	struct str kernels[64];
	struct model_op op, forward;
};

static void
split(struct str s, struct line *l)
{
	for (int i = 0; i < FIELDS; i++) {
		const char *tab = s.len > 0 ? memchr(s.p, '\t', s.len) : NULL;
		size_t len = tab != NULL ? (size_t)(tab - s.p) : s.len;

		l->f[i] = (struct str){ s.p, len };
		s.p += len + (tab != NULL);
		s.len -= len + (tab != NULL);
	}
}

static bool
find_arg(void *ctx, struct str key, struct str *text)
{
	const struct line *l = ctx;
	struct str s = l->f[8];

	while (s.len > 0) {
		const char *end = memchr(s.p, ';', s.len);
		size_t len = end != NULL ? (size_t)(end - s.p) : s.len;

		if (len > key.len && s.p[key.len] == '=' &&
		    memcmp(s.p, key.p, key.len) == 0) {
			*text = (struct str){ s.p + key.len + 1,
				len - key.len - 1 };
			return true;
		}
		s.p += len + (end != NULL);
		s.len -= len + (end != NULL);
	}
	return false;
}

/* ["a","b"] without escapes: names of kernels have none that matter here. */
static void
kernels(struct line *l)
{
	struct str s = l->f[6];
	size_t n = 0;

	for (size_t i = 0; i < s.len && n < 64; i++) {
		const char *end;

		if (s.p[i] != '"')
			continue;
		end = memchr(s.p + i + 1, '"', s.len - i - 1);
		if (end == NULL)
			break;
		l->kernels[n++] =
		    (struct str){ s.p + i + 1, (size_t)(end - s.p) - i - 1 };
		i = (size_t)(end - s.p);
	}
	l->op.kernels = l->kernels;
	l->op.nkernels = n;
}

static void
read_line(struct str s, struct line *l)
{
	split(s, l);
	l->op = (struct model_op){ .name = l->f[1],
		.dims = l->f[2],
		.types = l->f[3],
		.strides = l->f[4],
		.concrete = l->f[5],
		.annotation = l->f[7],
		.hlo = l->f[14],
		.arg = find_arg,
		.ctx = l };
	kernels(l);
	l->forward = (struct model_op){ .name = l->f[9],
		.dims = l->f[10],
		.types = l->f[11],
		.strides = l->f[12],
		.concrete = l->f[13] };
	if (l->f[9].len > 0)
		l->op.forward = &l->forward;
}

static void
put_number(struct buf *b, const char *key, double v)
{
	char text[NUM_DOUBLE_MAX];

	buf_printf(b, ",\"%s\":", key);
	if (isnan(v))
		buf_puts(b, "null");
	else
		buf_put(b, text, num_put_double(text, v));
}

static void
put_text(struct buf *b, const char *key, struct str s)
{
	buf_printf(b, ",\"%s\":", key);
	json_put_string(b, s);
}

static void
answer(struct models *ms, const struct line *l, bool quiet)
{
	struct str name = model_name(ms, l->op.name, l->op.hlo);
	const struct model *m = model_find(ms, name);
	struct str first = l->op.nkernels > 0 ? l->kernels[0] : STR("");
	const struct model_result *r;
	struct buf b = { 0 };

	if (m != NULL)
		r = model_eval(ms, m, &l->op,
		    str_eq(l->f[0], STR("bwd")) ? MODEL_BWD : MODEL_FWD);
	if (quiet)
		return;
	buf_printf(&b, "{\"status\":\"%s\"",
	    m == NULL ? "none" : model_status_words[r->status]);
	put_text(&b, "category", model_category(ms, name, first));
	if (m != NULL) {
		put_text(&b, "sheet", m->sheet);
		put_number(&b, "flops", r->flops);
		put_number(&b, "bytes", r->bytes);
		put_text(&b, "spec", r->spec);
		put_text(&b, "reason", r->reason);
		buf_printf(&b, ",\"extra\":%s,\"params\":",
		    m->is_extra ? "true" : "false");
		model_params_json(&b, r);
	}
	buf_puts(&b, "}\n");
	fwrite(b.p, 1, b.len, stdout);
	buf_free(&b);
}

static void
tell(void *ctx, bool passed, struct str what)
{
	(void)ctx;
	printf("%s %.*s\n", passed ? "ok" : "not ok", (int)what.len, what.p);
}

static int
check(struct models *ms, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n, failed;

	models_load(ms, path);
	failed =
	    models_check(ms, slash != NULL ? slash + 1 : path, tell, NULL, &n);
	printf("%zu examples, %zu failed\n", n, failed);
	return failed > 0 || n == 0;
}

static int
show_arch(struct models *ms, const char *name)
{
	const struct arch *a = arch_load(ms, name, STR(""));

	printf("%.*s %g GB/s\n", (int)a->name.len, a->name.p,
	    arch_gbps(a, ROOF_PEAK));
	for (size_t i = 0; i < a->nrates; i++)
		printf("%.*s %g %g\n", (int)a->rates[i].spec.len,
		    a->rates[i].spec.p, a->rates[i].peak,
		    a->rates[i].achievable);
	return 0;
}

int
main(int argc, char *argv[])
{
	struct buf text = { 0 };
	VEC(struct line) lines = { 0 };
	bool timed = false;
	double start = sys_cpu_s();
	struct models *ms = models_create();
	double loaded = sys_cpu_s();
	char chunk[65536];
	size_t n;

	err_program(argv[0]);
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--time") == 0)
			timed = true;
		else if (strcmp(argv[i], "--models") == 0 && i + 1 < argc)
			models_load(ms, argv[++i]);
		else if (strcmp(argv[i], "--check") == 0 && i + 1 < argc)
			return check(ms, argv[++i]);
		else if (strcmp(argv[i], "--arch") == 0 && i + 1 < argc)
			return show_arch(ms, argv[++i]);
	while ((n = fread(chunk, 1, sizeof chunk, stdin)) > 0)
		buf_put(&text, chunk, n);
	for (size_t at = 0; at < text.len;) {
		const char *nl = memchr(text.p + at, '\n', text.len - at);
		size_t len =
		    nl != NULL ? (size_t)(nl - text.p) - at : text.len - at;

		(void)vec_add(&lines);
		lines.v[lines.n - 1] =
		    (struct line){ .f = { { text.p + at, len } } };
		at += len + 1;
	}
	for (size_t i = 0; i < lines.n; i++)
		read_line(lines.v[i].f[0], &lines.v[i]);
	for (int round = 0; round < 1 + timed; round++) {
		double t = sys_cpu_s();

		for (size_t i = 0; i < lines.n; i++)
			answer(ms, &lines.v[i], timed);
		if (timed)
			printf("%zu lines in %.1f ms, %.0f ns each\n", lines.n,
			    (sys_cpu_s() - t) * 1e3,
			    (sys_cpu_s() - t) * 1e9 / (double)lines.n);
	}
	if (timed)
		printf("models loaded in %.2f ms\n", (loaded - start) * 1e3);
	buf_free(&text);
	vec_free(&lines);
	models_destroy(ms);
	return 0;
}
