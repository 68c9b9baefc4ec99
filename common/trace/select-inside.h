/* SPDX-License-Identifier: MIT */
/* Private to select: the windows of one source. */
#ifndef TL_TRACE_SELECT_INSIDE_H
#define TL_TRACE_SELECT_INSIDE_H

#include "trace/inner.h"
#include "trace/select.h"
#include "trace/span.h"
#include "trace/steps.h"

/* The annotations of a source, from its prologue. */
struct select_windows {
	bool in_prologue;                    /* more may come */
	bool is_ready, has_steps, has_notes; /* has: asked for */
	bool are_markers; /* with late_steps: all --annotation asks for */
	VEC(struct select_window) all; /* by start, longer first */
	struct steps steps;
	struct steps iterations; /* only these */
	VEC(bool) chosen;        /* by --step or markers, of steps.list */
	VEC(int64_t) since;      /* likewise: start of the steps in a row */
	struct spans asked;      /* by --annotation */
	/* made when they are first looked up, by the index in all */
	bool has_inner;
	struct inner notes, thread_notes;
};

struct select_range {
	int64_t low, high;
};

struct select_launch {
	struct uid uid;
	int64_t ts_ns;
	uint32_t depth, track;
};

/* N or N-M. */
bool select_range_parse(struct str s, struct select_range *r) USE_RESULT;

/* The number of the source being read, over all inputs. */
static inline uint32_t
select_source_no(const struct select *s)
{
	return s->first_source + s->src;
}

/* What messages call it. */
static inline const char *
select_label(const struct select *s)
{
	return s->src < s->labels.n && s->labels.v[s->src] != NULL
	    ? s->labels.v[s->src]
	    : s->in->name;
}

/* ---- select-steps.c ---- */

/* Takes --step. */
void select_steps_opt(struct select *s, const struct optparse *op);
/* There is a source of this number, over all inputs. */
static inline void
select_meet_source(struct select *s, uint32_t no)
{
	s->nsources = no >= s->nsources ? no + 1 : s->nsources;
}

/* ---- select-window.c ---- */

/* The windows of the source read before. */
void select_windows_leave(struct select *s);
void select_windows_add(
    struct select_windows *w, const struct dict *st, const struct event *ev);
/* End of the prologue: finds the selected windows. */
void select_windows_ready(struct select *s);
/* Whether --step and --annotation select a time of a process. */
bool select_windows_hold(
    const struct select *s, const struct key *pid, int64_t t);
/* Where the window begins; INT64_MIN: all is selected. */
int64_t select_windows_since(
    const struct select *s, const struct key *pid, int64_t t);
const struct select_window *select_windows_note(
    struct select_windows *w, uint32_t track, int64_t t);

static inline bool
id_set_is_empty(const struct id_set *set)
{
	return set->ranges.n + set->words.n == 0;
}

/* ---- select-want.c ---- */

/* Whether nothing excludes GPU events by their properties. */
bool select_takes_any(const struct select *s);
/* Whether annotations are needed. */
bool select_by_annotations(const struct select *s);

#endif
