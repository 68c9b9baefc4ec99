/* SPDX-License-Identifier: MIT */
/*
 * store: all events of one source in memory.
 *
 * A store holds one source at a time: its facts, metadata and events, 56 bytes
 * an event and its encoded values (some 10 to 25 bytes), plus while it works 8
 * bytes for each host event and 16 for each launch and GPU event.
 *
 *	while (store_read(s, in)) {
 *		store_link(s, LINK_DEFAULT, &links);
 *		tree_build(s, &opts, &stats);
 *		store_link_backward(s, &links);
 *		tree_write(s, out, is_ndjson);
 *	}
 */
#ifndef TL_TRACE_STORE_H
#define TL_TRACE_STORE_H

#include "stream/stream.h"

struct store;

#define STORE_NONE UINT32_MAX /* no event */

struct store *store_create(struct dict *st);
void store_destroy(struct store *s);
/*
 * Replaces what it holds by the next source of the stream; false after the last
 * one. B and E are paired here: the B gets the duration up to its E. Links and
 * trees that the stream has are kept (then neither store_link() nor
 * tree_build() is called), unless store_anew() was called before.
 */
bool store_read(struct store *s, struct stream_in *in);
void store_anew(struct store *s);
/* store_read() skips whole events (phase X) of these kinds. */
void store_leave_out(struct store *s, uint32_t kinds);
/*
 * Shows whole events of these kinds to fn as store_read() takes them: what it
 * does then is done while others still decode. Nothing is linked yet.
 */
typedef void store_shown(void *arg, const struct event *ev);
void store_show(struct store *s, uint32_t kinds, store_shown *fn, void *arg);
/* Whether event i was shown; and all of those, in the order shown. */
bool store_was_shown(const struct store *s, uint32_t i);
bool store_has_shown_in_order(const struct store *s);
/*
 * All stores from now on take at most mem bytes of memory, STORE_LEAST or more,
 * for what grows with their events; the rest is spilled into temporary files.
 * Not in it: strings, 100 bytes for each op with a link between forward and
 * backward. Steps are not inferred where that may take more than mem. Once,
 * before the first store_create().
 */
void store_limit(size_t mem);
#define STORE_LEAST ((size_t)4 << 20)
/* Events held; they are numbered from 0, by id. */
uint32_t store_count(const struct store *s);
/* Whether event i is of one of these kinds. */
bool store_is(const struct store *s, uint32_t i, uint32_t kinds);
uint32_t store_name(const struct store *s, uint32_t i);
struct uid store_uid(const struct store *s, uint32_t i);
/* GPU events below it, if a tree was built. */
uint32_t store_ngpu(const struct store *s, uint32_t i);
/*
 * Event i with all fields that a stream of it would have, in a tree if it was
 * built; depth is the caller's to set. Valid until the next store_read().
 */
void store_event(struct store *s, uint32_t i, struct event *ev);
/* The same without event_set_keys(). */
void store_event_bare(struct store *s, uint32_t i, struct event *ev);
struct dict *store_strings(const struct store *s);
const struct source *store_source(const struct store *s);
const struct meta *store_metas(const struct store *s, size_t *n);
/* The most bytes used, without strings, and for how many events. */
uint64_t store_peak_bytes(const struct store *s, uint64_t *nevents);

#endif
