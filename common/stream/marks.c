/* SPDX-License-Identifier: MIT */
/* The fact "health": what is wrong with a source, and which figures are
 * affected. */
#include "stream/marks.h"
#include "stream/ndjson.h"
#include "json/json.h"

const char *const figure_words[] = { "busy time", "idle time", "kernels", "ops",
	"roofline", "modules", "launches", "steps", "collectives", NULL };

/* The figures each program prints; filters and tl-health print none that a mark
 * is about. */
static const struct {
	const char *program;
	unsigned figures;
} printers[] = {
	{ "tl-collective", FIGURE_COLLECTIVES },
	{ "tl-critical", FIGURE_BUSY | FIGURE_IDLE | FIGURE_LAUNCHES },
	{ "tl-diff", FIGURES_ALL & ~(unsigned)FIGURE_COLLECTIVES },
	{ "tl-fold", FIGURE_OPS | FIGURE_MODULES },
	{ "tl-idle", FIGURE_IDLE | FIGURE_LAUNCHES },
	{ "tl-kernels", FIGURE_KERNELS },
	{ "tl-launch", FIGURE_LAUNCHES },
	{ "tl-modules", FIGURE_MODULES },
	{ "tl-ops", FIGURE_OPS },
	{ "tl-replay", FIGURE_OPS },
	{ "tl-roofline", FIGURE_ROOFLINE | FIGURE_OPS },
	{ "tl-steps", FIGURE_STEPS | FIGURE_BUSY | FIGURE_IDLE },
	{ "tl-timeline", FIGURE_BUSY | FIGURE_IDLE },
};

static unsigned
printed(void)
{
	for (size_t i = 0; i < sizeof printers / sizeof *printers; i++)
		if (strcmp(err_program_name(), printers[i].program) == 0)
			return printers[i].figures;
	return 0;
}

/* The words of a mark for the figures printed. */
static unsigned
touched(struct arena *mem, struct str words, unsigned figures)
{
	json_items list = { 0 };
	unsigned bits = 0;

	(void)!json_split(&list, mem, words);
	for (size_t i = 0; i < list.n; i++)
		for (unsigned k = 0; figure_words[k] != NULL; k++)
			if (str_eq(list.v[i].text, str_of(figure_words[k])))
				bits |= 1u << k & figures;
	vec_free(&list);
	return bits;
}

struct verdict {
	struct buf marks;
	unsigned figures; /* affected by any of them */
	bool is_misleading;
};

/* "coverage.blocked (97.8 % of the GPU span)" */
static void
take_mark(
    struct verdict *v, struct arena *mem, struct str text, unsigned figures)
{
	json_items mark = { 0 };
	struct str check, share;
	unsigned bits;

	(void)!json_split(&mark, mem, text);
	bits = touched(mem, json_member_text(&mark, STR("touches")), figures);
	check = json_member_text(&mark, STR("check"));
	if (bits != 0 && check.len > 0) {
		share = json_member_text(&mark, STR("evidence"));
		buf_printf(&v->marks, "%s%.*s", v->marks.len > 0 ? ", " : "",
		    (int)check.len, check.p);
		if (share.len > 0)
			buf_printf(
			    &v->marks, " (%.*s)", (int)share.len, share.p);
		v->figures |= bits;
		v->is_misleading |=
		    str_eq(json_member_text(&mark, STR("severity")),
			STR("misleading"));
	}
	vec_free(&mark);
}

/* "clip-overrun 4, fix-utf8 2" */
void
stream_tell_repaired(const char *name, const struct source *source)
{
	const struct fact *f = source_fact(source, FACT_REPAIRED);
	struct arena *mem;
	json_items list = { 0 }, one = { 0 };
	struct buf b = { 0 };

	if (f == NULL || f->val.type < VAL_STR)
		return;
	mem = arena_create();
	(void)!json_split(&list, mem, f->val.s);
	for (size_t i = 0; i + 1 < list.n; i += 2) {
		struct str key = list.v[i].text, n;

		(void)!json_split(&one, mem, list.v[i + 1].text);
		n = json_member_text(&one, STR("n"));
		buf_printf(&b, "%s%.*s %.*s", i > 0 ? ", " : "", (int)key.len,
		    key.p, (int)n.len, n.p);
	}
	report(MSG_REPAIRED, name, buf_str(&b));
	vec_free(&list);
	vec_free(&one);
	buf_free(&b);
	arena_destroy(mem);
}

void
stream_tell_marks(const char *name, const struct source *source)
{
	const struct fact *f = source_fact(source, FACT_HEALTH);
	unsigned figures = printed();
	struct verdict v = { 0 };
	json_items fact = { 0 }, marks = { 0 };
	struct buf words = { 0 };
	struct arena *mem;

	if (figures != 0)
		stream_tell_repaired(name, source);
	if (f == NULL || figures == 0 || f->val.type < VAL_STR)
		return;
	mem = arena_create();
	(void)!json_split(&fact, mem, f->val.s);
	(void)!json_split(&marks, mem, json_member_text(&fact, STR("marks")));
	for (size_t i = 0; i < marks.n; i++)
		take_mark(&v, mem, marks.v[i].text, figures);
	words_put(&words, v.figures, figure_words, ", ");
	if (v.figures != 0)
		report(v.is_misleading ? MSG_MARKED_MISLEADING : MSG_MARKED,
		    name, buf_str(&words), buf_str(&v.marks));
	buf_free(&words);
	buf_free(&v.marks);
	vec_free(&fact);
	vec_free(&marks);
	arena_destroy(mem);
}
