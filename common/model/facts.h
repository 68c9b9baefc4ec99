/* SPDX-License-Identifier: MIT */
/*
 * facts: input of models besides an op's arguments: the annotation around it,
 * and further arguments of its event.
 *
 *	notes_add(&notes, models, dict, &in->ev);	(each user's annotation)
 *	...
 *	extras_take(&extras, dict, model, &in->ev);
 *	op.annotation = notes_around(&notes, dict, ts_ns);
 *	op.arg = ... extras_find(list, n, dict, key, &text) ...
 */
#ifndef TL_MODEL_FACTS_H
#define TL_MODEL_FACTS_H

#include "model/model.h"
#include "trace/inner.h"
#include "trace/launcher.h"

/* ---- an op ---- */

/* Name and arguments by their numbers; all else is unset. */
struct model_op model_op_of(
    const struct dict *st, uint32_t name, struct op_args args);

/* Its model_name(), by number in the strings. */
uint32_t model_number_of_hlo(
    struct models *ms, struct dict *st, uint32_t name, uint32_t hlo);
static inline uint32_t
model_number(struct models *ms, struct dict *st, uint32_t name,
    const struct op_args *args)
{
	return args->hlo == INTERN_NONE
	    ? name
	    : model_number_of_hlo(ms, st, name, args->hlo);
}

/* ---- annotations of users ---- */

/* Of one source; start with zeroes. */
struct notes {
	struct inner around; /* by enum note_rank: names */
	bool is_found;
	struct map ranks; /* by name */
};

void notes_add(struct notes *n, struct models *ms, const struct dict *st,
    const struct event *ev);
/* The name of the annotation in which an op begins; "NA": none. */
struct str notes_around(struct notes *n, const struct dict *st, int64_t ts_ns);
void notes_clear(struct notes *n);
void notes_free(struct notes *n);

/* ---- further arguments ---- */

struct extra {
	uint32_t key, text;
};
typedef VEC(struct extra) extra_vec;

/* An argument's value as text; INTERN_NONE: missing. */
uint32_t extra_text(struct dict *st, const struct value *v);
/* Appends those arguments of the event that the model reads. */
void extras_take(extra_vec *list, struct dict *st, const struct model *m,
    const struct event *ev);
/* Its text, as for model_op.arg. */
bool extras_find(const struct extra *list, size_t n, const struct dict *st,
    struct str key, struct str *text);

/* ---- categories ---- */

/*
 * The category of an op by name and first kernel (INTERN_NONE: none), as a
 * number in the strings. known caches it by name; start with zeroes.
 */
uint32_t category_number(struct map *known, struct models *ms, struct dict *st,
    uint32_t name, uint32_t first_kernel);

#endif
