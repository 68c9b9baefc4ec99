/* SPDX-License-Identifier: MIT */
/* there: what there is to select, for a selection that matches nothing */
#ifndef TL_TRACE_THERE_H
#define TL_TRACE_THERE_H

#include "stream/dict.h"

#define THERE_MAX 8   /* names kept */
#define THERE_NAME 60 /* bytes of one */

/*
 * Names that patterns were tried on, of which it keeps those nearest to the
 * patterns, the earlier of equally near ones. Zeroes to start with. For a
 * program with patterns of its own:
 *
 *	if (there_glob(&there, globs.v, globs.n, dict, ev->name))
 *		... the event is asked for
 *	there_put(&there, &b): "; it has 'aten::mm', 'aten::add' and more"
 *
 * Memory: a byte a name of the dictionary.
 */
struct there {
	struct there_name {
		size_t distance;
		size_t len;
		bool is_cut;
		char text[THERE_NAME]; /* the beginning of a longer one */
	} names[THERE_MAX];            /* nearest first */
	uint32_t n;
	bool has_more;
	const struct dict *dict; /* the one of known */
	VEC(uint8_t) known;      /* by name */
};

/* Whether one of n patterns matches; true without any. Found once a name. */
bool there_match(struct there *t, const struct str *globs, size_t n,
    const struct dict *st, uint32_t name);
/* Keeps a name that does not match. */
void there_meet(struct there *t, const struct str *globs, size_t n,
    const struct dict *st, uint32_t name);
/* Both: whether one matches; else the name is kept. */
bool there_glob(struct there *t, const struct str *globs, size_t n,
    const struct dict *st, uint32_t name);
/* Keeps an annotation; equally near ones that mark steps come last. */
void there_meet_annotation(
    struct there *t, struct str glob, struct str name, bool is_step);
/* Appends the names: "; it has 'a', 'b'" to an empty buffer, else ", 'a'". */
void there_put(const struct there *t, struct buf *b);
/* The same for a message that ends the program: never freed. */
struct str there_str(const struct there *t);
void there_free(struct there *t);

/* Numbers or words that were met in place of selected ones, each once. */
struct there_keys {
	VEC(struct key) list;
	bool has_more;
};

/* Remembers the key; text keys are words of the current dictionary. */
void there_meet_key(struct there_keys *keys, struct key key);
/* Appends them: "; it has devices 0, 1", of "device" and "s". */
void there_put_keys(const struct there_keys *keys, const struct dict *st,
    const char *what, const char *plural, struct buf *b);

#endif
