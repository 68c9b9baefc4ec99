/* SPDX-License-Identifier: MIT */
/* Prints the table of findings and the verdict. */
#include "cmd/tl-health/health.h"

#include <math.h>

/* clang-format off */
static const struct column columns[] = {
	{ "rank", NULL, COL_INT, UNIT_NONE, 0, 0 },
	{ "severity", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "check", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "count", NULL, COL_INT, UNIT_COUNT, 0, 0 },
	{ "time_ns", NULL, COL_INT, UNIT_NS, 0, 0 },
	{ "percent", NULL, COL_REAL, UNIT_PERCENT, 0, 0 },
	{ "percent_of", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "uid", NULL, COL_TEXT, UNIT_NONE, 0, 0 },
	{ "finding", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED, 0 },
	{ "spoils", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED | COL_MINOR, 0 },
	{ "advice", NULL, COL_TEXT, UNIT_NONE, COL_WRAPPED | COL_MINOR, 0 },
	{ "warning_from", NULL, COL_REAL, UNIT_NONE, COL_DETAIL, 0 },
	{ "misleading_from", NULL, COL_REAL, UNIT_NONE, COL_DETAIL, 0 },
};
/* clang-format on */
#define COLUMNS (sizeof columns / sizeof *columns)

/* By source, worst first, then in the order of the list. */
static int
order_of_findings(const void *x, const void *y)
{
	const struct finding *a = x, *b = y;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	return (a->check > b->check) - (a->check < b->check);
}

static void
put_text(struct buf *b, const struct finding *f)
{
	buf_put(b, f->text.p, f->text.len);
	if (f->detail.len > 0) {
		buf_puts(b, ": ");
		buf_put(b, f->detail.p, f->detail.len);
	}
}

static struct str
text_of(struct table *t, const struct finding *f)
{
	struct buf b = { 0 };
	struct str text;

	put_text(&b, f);
	text = table_row_text(t, buf_str(&b));
	buf_free(&b);
	return text;
}

/* A terminal is too narrow for sentences in columns. */
static void
add_note(struct table *t, const struct finding *f)
{
	const struct check_def *c = &checks[f->check];
	struct buf b = { 0 };

	if (f->severity < WARNING)
		return;
	buf_printf(&b, "%s: ", c->id);
	put_text(&b, f);
	table_note(t, "%.*s", (int)b.len, b.p);
	if (*c->advice != '\0')
		table_note(t, "    spoils %s; %s", c->spoils, c->advice);
	buf_free(&b);
}

static void
add_row(struct health *h, struct table *t, const struct finding *f,
    enum sink_lead lead)
{
	const struct check_def *c = &checks[f->check];
	const struct limits *l = &h->limits[f->check];
	struct cell *row = table_row(t);
	char uid[UID_MAX];

	if (lead != SINK_LEAD_NONE)
		*row++ = cell_int(lead == SINK_LEAD_RANK
			? h->sources.list.v[f->source].rank
			: f->source);
	row[0] = cell_text(str_of(severity_words[f->severity]));
	row[1] = cell_text(str_of(c->id));
	row[2] = cell_int((int64_t)f->n);
	if (f->ns > 0)
		row[3] = cell_int(f->ns);
	row[4] = cell_real(f->share);
	if (!isnan(f->share))
		row[5] = cell_text(str_of(c->share_of));
	if (f->has_uid)
		row[6] = cell_text(table_row_text(
		    t, (struct str){ uid, uid_put(uid, f->first) }));
	row[7] = cell_text(text_of(t, f));
	row[8] = cell_text(str_of(c->spoils));
	row[9] = cell_text(str_of(c->advice));
	row[10] = cell_real(l->warning);
	row[11] = cell_real(l->misleading);
}

static const char *
severity_of_outcome(const struct outcome *o)
{
	if (o->result == RULE_UNJUDGED)
		return "not judged";
	return o->rule->level == RULE_ERROR ? "failed"
					    : rule_level_words[o->rule->level];
}

static void
add_outcome(struct health *h, struct table *t, const struct outcome *o,
    enum sink_lead lead)
{
	const struct sink_source *source = &h->sources.list.v[o->source];
	struct buf b = { 0 };
	struct cell *row;

	if (o->result == RULE_PASSED)
		return;
	row = table_row(t);
	if (lead != SINK_LEAD_NONE)
		*row++ = cell_int(
		    lead == SINK_LEAD_RANK ? source->rank : source->no);
	buf_printf(&b, RULE_PREFIX "%.*s", (int)o->rule->id.len, o->rule->id.p);
	row[0] = cell_text(str_of(severity_of_outcome(o)));
	row[1] = cell_text(table_row_text(t, buf_str(&b)));
	if (o->result == RULE_BROKEN)
		row[2] = cell_int((int64_t)o->n);
	if (o->uid.len > 0)
		row[6] = cell_text(o->uid);
	row[7] = cell_text(o->why);
	row[9] = cell_text(o->rule->text);
	table_note(t, "%.*s: %.*s", (int)b.len, b.p, (int)o->why.len, o->why.p);
	buf_free(&b);
}

void
health_print(struct health *h, struct table_dest *dest)
{
	enum sink_lead lead = sink_sources_lead(&h->sources);
	struct column own[COLUMNS];
	size_t skip = lead == SINK_LEAD_NONE;
	struct table *t;

	memcpy(own, columns, sizeof columns);
	if (lead == SINK_LEAD_SRC)
		own[0].id = "src";
	stable_sort(h->findings.v, h->findings.n, sizeof *h->findings.v,
	    order_of_findings);
	t = table_create("health", own + skip, COLUMNS - skip);
	for (size_t i = 0; i < h->outcomes.n; i++)
		add_outcome(h, t, &h->outcomes.v[i], lead);
	for (size_t i = 0; i < h->findings.n; i++)
		add_row(h, t, &h->findings.v[i], lead);
	for (size_t i = 0; i < h->findings.n; i++)
		add_note(t, &h->findings.v[i]);
	if (h->findings.n == 0)
		table_note(t, "none of %d checks found anything", CHECKS);
	table_print_summary(t, dest);
	table_destroy(t);
}

/* ---- the verdict ---- */

void
finding_put_share(struct buf *b, const struct finding *f)
{
	if (!isnan(f->share) && f->share > 0)
		buf_printf(
		    b, "%.3g %% of %s", f->share, checks[f->check].share_of);
	else
		buf_printf(b, "%" PRIu64, f->n);
}

/* "steps have no GPU event (12.3 % of step time, coverage.steps)" */
static void
put_finding(struct buf *b, const struct finding *f)
{
	buf_printf(
	    b, "%s%.*s (", b->len > 0 ? "; " : "", (int)f->text.len, f->text.p);
	if (!isnan(f->share) || f->n > 1) {
		finding_put_share(b, f);
		buf_puts(b, ", ");
	}
	buf_printf(b, "%s)", checks[f->check].id);
}

/* Of one source: the worst severity, how many findings have it, and which. */
static enum severity
verdict_on(const struct health *h, uint32_t source, size_t n[SEVERITIES],
    struct buf *which)
{
	enum severity worst = SOUND;

	for (size_t i = 0; i < h->findings.n; i++)
		if (h->findings.v[i].source == source) {
			n[h->findings.v[i].severity]++;
			if (h->findings.v[i].severity > worst)
				worst = h->findings.v[i].severity;
		}
	for (size_t i = 0; i < h->findings.n; i++)
		if (h->findings.v[i].source == source &&
		    h->findings.v[i].severity == worst)
			put_finding(which, &h->findings.v[i]);
	return worst;
}

enum severity
health_tell(struct health *h)
{
	enum severity worst = SOUND;
	struct buf which = { 0 };

	for (uint32_t i = 0; i < h->sources.list.n; i++) {
		const char *path = h->sources.list.v[i].path;
		size_t n[SEVERITIES] = { 0 };
		enum severity of;

		which.len = 0;
		of = verdict_on(h, i, n, &which);
		if (of == MISLEADING)
			report(MSG_HEALTH_MISLEADING, path, buf_str(&which));
		else if (of == WARNING)
			report(MSG_HEALTH_USABLE, path, n[WARNING],
			    buf_str(&which));
		else if (!h->is_quiet)
			report(MSG_HEALTH_SOUND, path, n[NOTE]);
		worst = of > worst ? of : worst;
	}
	buf_free(&which);
	return worst;
}

/* ", uid 57 (the rule's text)" */
static struct str
words_of_outcome(const struct outcome *o, struct buf *b)
{
	b->len = 0;
	buf_put(b, o->why.p, o->why.len);
	if (o->uid.len > 0)
		buf_printf(b, ", uid %.*s", (int)o->uid.len, o->uid.p);
	if (o->rule->text.len > 0)
		buf_printf(
		    b, "; %.*s", (int)o->rule->text.len, o->rule->text.p);
	return buf_str(b);
}

bool
rules_tell(const struct health *h)
{
	static const enum report_id broken[RULE_LEVELS] = {
		[RULE_NOTE] = MSG_RULE_NOTES,
		[RULE_WARNING] = MSG_RULE_WARNS,
		[RULE_ERROR] = MSG_RULE_FAILED,
	};
	bool has_failed = false;
	struct buf b = { 0 };

	for (size_t i = 0; i < h->outcomes.n; i++) {
		const struct outcome *o = &h->outcomes.v[i];
		const char *path = h->sources.list.v[o->source].path;

		if (o->result == RULE_UNJUDGED)
			report(MSG_RULE_UNJUDGED, path, o->rule->id, o->why);
		if (o->result != RULE_BROKEN)
			continue;
		report(broken[o->rule->level], path, o->rule->id,
		    words_of_outcome(o, &b));
		has_failed |= o->rule->level == RULE_ERROR;
	}
	buf_free(&b);
	return has_failed;
}

/* ---- for CI ---- */

/* A check has at most one finding per source. */
static const struct finding *
finding_of(const struct health *h, enum check check, uint32_t source)
{
	for (size_t i = 0; i < h->findings.n; i++)
		if (h->findings.v[i].check == check &&
		    h->findings.v[i].source == source)
			return &h->findings.v[i];
	return NULL;
}

void
finding_put(struct buf *b, const struct finding *f)
{
	put_finding(b, f);
	buf_puts(b, ": ");
	put_text(b, f);
}

static void
junit_rules(const struct health *h, struct junit *xml)
{
	static const enum junit_result results[] = {
		[RULE_PASSED] = JUNIT_PASSED,
		[RULE_BROKEN] = JUNIT_FAILED,
		[RULE_UNJUDGED] = JUNIT_ERROR,
	};
	struct buf id = { 0 }, text = { 0 };

	for (size_t i = 0; i < h->outcomes.n; i++) {
		const struct outcome *o = &h->outcomes.v[i];
		bool is_let =
		    o->result == RULE_BROKEN && o->rule->level != RULE_ERROR;

		id.len = 0;
		buf_printf(&id, RULE_PREFIX "%.*s", (int)o->rule->id.len,
		    o->rule->id.p);
		junit_case(xml, is_let ? JUNIT_PASSED : results[o->result],
		    buf_str(&id), str_of(h->sources.list.v[o->source].path),
		    words_of_outcome(o, &text));
	}
	buf_free(&id);
	buf_free(&text);
}

void
health_junit(const struct health *h, struct junit *xml)
{
	struct buf text = { 0 };

	junit_rules(h, xml);
	for (uint32_t i = 0; i < h->sources.list.n; i++)
		for (int c = 0; c < CHECKS; c++) {
			const struct finding *f =
			    finding_of(h, (enum check)c, i);

			text.len = 0;
			if (f != NULL)
				finding_put(&text, f);
			junit_case(xml,
			    f != NULL && f->severity == MISLEADING
				? JUNIT_FAILED
				: JUNIT_PASSED,
			    str_of(checks[c].id),
			    str_of(h->sources.list.v[i].path), buf_str(&text));
		}
	junit_finish(xml);
	buf_free(&text);
}
