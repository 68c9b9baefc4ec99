/* SPDX-License-Identifier: MIT */
/*
 * execution_details.json and .csv, which TraceLens's tools read: what parts by
 * iterations hold. Times are in us; gpu_sum is our addition.
 */
#include "cmd/tl-split/split.h"
#include "table/table.h"
#include "trace/laws.h"
#include "json/json.h"

enum {
	COL_IDX,
	COL_PATH,
	COL_EVENTS,
	COL_GPU_EVENTS,
	COL_GPU,
	COL_GPU_BUSY,
	COL_PREFILL,
	COL_PREFILLDECODE,
	COL_DECODE,
	COL_AVG_BS,
	COL_AVG_CONC,
	COL_STEPS,
	COL_GPU_SUM,
	COL_N,
};

#define INT(id)                                    \
	{                                          \
		id, NULL, COL_INT, UNIT_NONE, 0, 0 \
	}
#define REAL(id)                                    \
	{                                           \
		id, NULL, COL_REAL, UNIT_NONE, 0, 0 \
	}
static const struct column columns[COL_N] = {
	[COL_IDX] = INT("idx"),
	[COL_PATH] = { "output_path", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	[COL_EVENTS] = INT("event_count"),
	[COL_GPU_EVENTS] = INT("num_gpu_events"),
	[COL_GPU] = REAL("gpu_duration"),
	[COL_GPU_BUSY] = REAL("gpu_busy_duration"),
	[COL_PREFILL] = INT("phase_num_prefill"),
	[COL_PREFILLDECODE] = INT("phase_num_prefilldecode"),
	[COL_DECODE] = INT("phase_num_decode"),
	[COL_AVG_BS] = INT("phase_avg_bs"),
	[COL_AVG_CONC] = INT("phase_avg_conc"),
	[COL_STEPS] = INT("num_steps"),
	[COL_GPU_SUM] = REAL("gpu_sum"),
};

/* ---- sums ---- */

struct gpu_sums {
	uint64_t n;
	int64_t span_ns; /* of each iteration, from the first to the last */
	int64_t busy_ns, sum_ns;
};

/* Checks: busy time exceeds neither the sum of its parts nor their spans. */
static void
keep_laws(const struct gpu_sums *s)
{
	const struct law_part busy = { "gpu_busy_duration", s->busy_ns };

	law_most("execution_details", busy,
	    (struct law_part){ "gpu_sum", s->sum_ns });
	law_most("execution_details", busy,
	    (struct law_part){ "gpu_duration", s->span_ns });
}

static struct gpu_sums
sum_up(struct split *s, const struct window *w)
{
	struct gpu_sums sums = { 0 };
	struct spans all = { 0 };

	for (size_t i = w->start; i < w->end; i++) {
		struct root *root = &s->its.roots.v[s->its.picked.v[i]];
		const struct spans *gpu = &root->gpu;

		spans_normalise(&root->gpu);
		sums.n += root->ngpu;
		sums.sum_ns = num_add_max(sums.sum_ns, root->gpu_sum_ns);
		if (gpu->n > 0)
			sums.span_ns = num_add_max(sums.span_ns,
			    gpu->v[gpu->n - 1].end - gpu->v[0].start);
		for (size_t k = 0; k < gpu->n; k++)
			spans_add(&all, gpu->v[k].start, gpu->v[k].end);
	}
	spans_normalise(&all);
	sums.busy_ns = spans_total(&all);
	spans_free(&all);
	keep_laws(&sums);
	return sums;
}

/* ---- JSON ---- */

static void
put_int(struct buf *b, const char *indent, const char *key, int64_t v)
{
	buf_printf(b, "%s\"%s\": %" PRId64, indent, key, v);
}

static void
put_us(struct buf *b, const char *key, int64_t ns)
{
	char text[NUM_DOUBLE_MAX];

	buf_printf(b, ",\n    \"%s\": ", key);
	buf_put(b, text, num_put_double(text, (double)ns / 1e3));
}

static void
put_step(struct buf *b, const struct iteration *it)
{
	const struct {
		const char *key;
		int64_t v;
	} fields[] = {
		{ "batch_size", it->batch_size },
		{ "num_requests", it->num_requests },
		{ "context_requests", it->context_requests },
		{ "context_sum", it->context_sum },
		{ "generation_requests", it->generation_requests },
		{ "generation_sum", it->generation_sum },
	};

	buf_puts(b, "      {");
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		put_int(b, i > 0 ? ",\n        " : "\n        ", fields[i].key,
		    fields[i].v);
	buf_puts(b, "\n      }");
}

static void
put_phase(struct buf *b, const struct window_summary *sum)
{
	buf_puts(b, ",\n    \"phase\": {");
	put_int(b, "\n      ", "num_prefill", sum->num_prefill);
	put_int(b, ",\n      ", "num_prefilldecode", sum->num_prefilldecode);
	put_int(b, ",\n      ", "num_decode", sum->num_decode);
	put_int(b, ",\n      ", "avg_bs", sum->avg_bs);
	put_int(b, ",\n      ", "avg_conc", sum->avg_conc);
	buf_puts(b, "\n    }");
}

static void
put_entry(struct split *s, const struct run *run, int64_t nevents,
    const struct gpu_sums *gpu, const struct window_summary *sum)
{
	struct buf *b = &s->details.json;

	buf_puts(b, b->len == 0 ? "[\n  {" : ",\n  {");
	put_int(b, "\n    ", "idx", run->idx);
	buf_puts(b, ",\n    \"output_path\": ");
	json_put_string(b, run->path);
	put_int(b, ",\n    ", "event_count", nevents);
	put_int(b, ",\n    ", "num_gpu_events", (int64_t)gpu->n);
	put_us(b, "gpu_duration", gpu->span_ns);
	put_us(b, "gpu_busy_duration", gpu->busy_ns);
	put_us(b, "gpu_sum", gpu->sum_ns);
	buf_puts(b, ",\n    \"steps\": [\n");
	for (size_t i = run->w.start; i < run->w.end; i++) {
		put_step(b, &s->its.v.v[i]);
		buf_puts(b, i + 1 < run->w.end ? ",\n" : "\n    ]");
	}
	put_phase(b, sum);
	buf_puts(b, "\n  }");
}

/* ---- both ---- */

static void
put_row(struct cell *row, const struct run *run, int64_t nevents,
    const struct gpu_sums *gpu, const struct window_summary *sum)
{
	row[COL_IDX] = cell_int(run->idx);
	row[COL_PATH] = cell_text(run->path);
	row[COL_EVENTS] = cell_int(nevents);
	row[COL_GPU_EVENTS] = cell_int((int64_t)gpu->n);
	row[COL_GPU] = cell_real((double)gpu->span_ns / 1e3);
	row[COL_GPU_BUSY] = cell_real((double)gpu->busy_ns / 1e3);
	row[COL_PREFILL] = cell_int(sum->num_prefill);
	row[COL_PREFILLDECODE] = cell_int(sum->num_prefilldecode);
	row[COL_DECODE] = cell_int(sum->num_decode);
	row[COL_AVG_BS] = cell_int(sum->avg_bs);
	row[COL_AVG_CONC] = cell_int(sum->avg_conc);
	row[COL_STEPS] = cell_int((int64_t)(run->w.end - run->w.start));
	row[COL_GPU_SUM] = cell_real((double)gpu->sum_ns / 1e3);
}

void
details_add(struct split *s, const struct run *run, uint64_t nevents)
{
	struct gpu_sums gpu = sum_up(s, &run->w);
	struct window_summary sum = window_sum(s->its.v.v, &run->w);

	if (s->details.csv == NULL)
		s->details.csv =
		    table_create("execution_details", columns, COL_N);
	put_row(table_row(s->details.csv), run, (int64_t)nevents, &gpu, &sum);
	put_entry(s, run, (int64_t)nevents, &gpu, &sum);
}

static char *
path_of(const struct split *s, const char *name)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s/%s", s->set->dir, name);
	buf_putc(&b, '\0');
	return b.p;
}

void
details_finish(struct split *s)
{
	char *json = path_of(s, "execution_details.json");
	char *csv = path_of(s, "execution_details.csv");
	struct table_dest dest = { .format = FMT_CSV, .path = csv };
	struct out *out = out_open(json);

	out_str(out, buf_str(&s->details.json));
	out_puts(out, "\n]\n");
	table_print(s->details.csv, &dest);
	table_destroy(s->details.csv);
	table_dest_finish(&dest);
	out_finish(out);
	buf_free(&s->details.json);
	vec_release(json);
	vec_release(csv);
}
