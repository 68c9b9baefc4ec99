/* SPDX-License-Identifier: MIT */
/*
 * process: processes and threads by name.
 *
 * From the metadata events (M) of the prologue: process_name and
 * process_labels of the thread 0 (or none) of a process, thread_name. What is
 * said last counts; what is not said is "Unknown".
 */
#ifndef TL_TRACE_PROCESS_H
#define TL_TRACE_PROCESS_H

#include "stream/stream.h"

struct names;

struct track_names {
	uint32_t process, label, thread; /* in the dictionary */
};

/*
 * A frame's name without the numbers of instances: every "_" and its digits go
 * ("nn.Module: Layer_12" is "nn.Module: Layer"). Its number in the dictionary.
 */
uint32_t name_without_numbers(struct dict *st, struct str name);

/* Whether a Python frame of this name is a call of an nn.Module. */
static inline bool
name_is_module(struct str name)
{
	static const struct str prefix = STR_INIT("nn.Module");

	return name.len >= prefix.len &&
	    memcmp(name.p, prefix.p, prefix.len) == 0;
}

/* Whether it is one, or a scope of XLA's. */
static inline bool
event_is_module(const struct dict *st, const struct event *ev)
{
	return ev->shape->kind == KIND_PYTHON &&
	    (ev->shape->is_hlo || name_is_module(dict_get(st, ev->name)));
}

struct names *names_create(struct dict *st);
void names_destroy(struct names *n);
/* Takes metadata events, ignores others. */
void names_push(struct names *n, const struct event *ev);
struct track_names names_of(struct names *n, uint32_t track);

#endif
