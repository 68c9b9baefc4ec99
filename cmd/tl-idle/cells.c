/* SPDX-License-Identifier: MIT */
/* Cells that are more than a field of the record. */
#include "cmd/tl-idle/idle.h"

#include <string.h>

static const struct idle *
idle_of(const struct sink_row *row)
{
	return (const struct idle *)row->sink;
}

static struct cell
uid_cell(const struct sink_row *row, bool is_there, struct uid uid)
{
	return is_there ? cell_uid(row->table, uid) : cell_none();
}

static struct cell
named_cell(const struct sink_row *row, const struct named *n)
{
	return uid_cell(row, n->name != INTERN_NONE, n->uid);
}

static struct cell
window_cell(const struct sink_row *row, unsigned number)
{
	const struct idle_record *r = row->first;
	const struct idle_window *w =
	    &idle_of(row)->windows.v[idle_of(row)->wholes.v[r->more].window];
	int64_t v;

	switch (number) {
	case C_FROM: return cell_string(row->sink->dict, w->from);
	case C_HEAD_CAUSE: return cell_string(row->sink->dict, w->head_cause);
	case C_HAS_OPS: return cell_bool(w->advice_of & ADVICE_OPS);
	case C_HAS_PYTHON: return cell_bool(w->advice_of & ADVICE_PYTHON);
	case C_IS_TPU: return cell_bool(w->advice_of & ADVICE_TPU);
	case C_BLOCKED_IN: return cell_string(row->sink->dict, w->blocked.name);
	case C_WAITS_BY: return cell_string(row->sink->dict, w->waits.name);
	case C_COMM_UID: return named_cell(row, &w->comm);
	case C_COPY_UID: return named_cell(row, &w->copy);
	case C_BLOCKED_UID: return named_cell(row, &w->blocked);
	case C_WAITS_UID: return named_cell(row, &w->waits);
	default: break;
	}
	memcpy(&v, (const char *)w + (number - C_WINDOW), sizeof v);
	return v != SINK_NONE ? cell_int(v) : cell_none();
}

static struct cell
whole_cell(const struct sink_row *row, unsigned number)
{
	const struct idle_record *r = row->first;
	const struct idle_whole *w = &idle_of(row)->wholes.v[r->more];
	const struct dict *dict = row->sink->dict;

	switch (number) {
	case C_PREV: return cell_string(dict, w->prev.name);
	case C_PREV_UID: return named_cell(row, &w->prev);
	case C_NEXT: return cell_string(dict, w->next.name);
	case C_NEXT_UID: return named_cell(row, &w->next);
	case C_NEXT_OP: return cell_string(dict, w->next_op);
	case C_NEXT_MODULE: return cell_string(dict, w->next_module);
	case C_OPENED_UID: return named_cell(row, &w->opened);
	case C_AWAITED: return cell_string(dict, w->awaited.name);
	case C_AWAITED_UID: return named_cell(row, &w->awaited);
	case C_CAUSE_NS: return cell_int(w->cause_ns);
	default: return cell_bool(w->is_lock);
	}
}

struct cell
idle_cell(const struct sink_row *row, unsigned number)
{
	const struct idle_record *r = row->first;
	const struct idle_record *most = idle_of(row)->longest;
	const struct stats *st = &idle_of(row)->stats;

	switch (number) {
	case C_COUNT: return cell_int((int64_t)st->n);
	case C_CALLS: return cell_int(idle_of(row)->ncalls);
	case C_MEDIAN: return cell_real(st->median);
	case C_MAX: return cell_int(st->max);
	case C_LONGEST: return cell_string(row->sink->dict, most->longest.name);
	case C_STACK:
		row->text->len = 0;
		stack_text(&((struct idle *)row->sink)->stacks, row->sink->dict,
		    most->more, row->text);
		return sink_row_text(row);
	case C_LONGEST_NS: return cell_int((int64_t)most->longest_ns);
	case C_LONGEST_UID: return named_cell(row, &most->longest);
	case C_LOCK: return cell_string(row->sink->dict, most->lock.name);
	case C_START: return cell_int(r->rec.ts_ns);
	case C_EVENT_UID:
		return uid_cell(row, r->event != HOST_NONE, r->rec.uid);
	case C_PREV:
	case C_PREV_UID:
	case C_NEXT:
	case C_NEXT_UID:
	case C_NEXT_OP:
	case C_NEXT_MODULE:
	case C_OPENED_UID:
	case C_AWAITED:
	case C_AWAITED_UID:
	case C_CAUSE_NS:
	case C_IS_LOCK: return whole_cell(row, number);
	default: return window_cell(row, number);
	}
}
