/* SPDX-License-Identifier: MIT */
/*
 * base: what every other area stands on.
 *
 * Text is a struct str: bytes with a length, no terminator promised, because
 * names in traces may hold NULs.  Memory has three lifetimes: the program
 * (xmalloc and never freed, the intern table), the phase (an arena, dropped
 * whole) and the current event (borrowed from a reader until its next call).
 *
 * Errors have one vocabulary: die() ends the program with status 1, warn()
 * tells and goes on, doubt() tells and makes the final status 3.  A message is
 * one write(2); control characters in it are made visible.
 *
 *	struct arena *a = arena_create();
 *	struct str copy = arena_str(a, name);
 *	uint32_t id = intern_put(table, copy);
 *	VEC(int64_t) v = { 0 };
 *	vec_push(&v, id);
 */
#ifndef TL_BASE_H
#define TL_BASE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/types.h>

#define USE_RESULT __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Exit statuses, the same in all programs; the table is in tl(7). */
enum {
	EXIT_DONE = 0,
	EXIT_NO_ANSWER = 1,
	EXIT_USAGE = 2,
	EXIT_DOUBT = 3,
	EXIT_GATE = 4,
};

/* ---- text ---- */

struct str {
	const char *p;
	size_t len;
};

/* For initialisers of static tables. */
#define STR_INIT(literal)                      \
	{                                      \
		(literal), sizeof(literal) - 1 \
	}
#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })

static inline struct str
str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static inline bool
str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* Bytewise order, shorter first on a common prefix. */
int str_cmp(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
/* The first place of needle in s, or -1; ignoring ASCII case with nocase. */
ptrdiff_t str_find(struct str s, struct str needle, bool nocase);
/* Shell pattern (* ? [...]), over the whole of s; any byte but NUL is plain. */
bool str_glob(struct str pattern, struct str s);
/* Whether one of n patterns fits; of none all do. */
bool str_glob_any(const struct str *patterns, size_t n, struct str s);

/* ---- err ---- */

/* Remembers the program's name for messages (basename of argv[0]). */
void err_program(const char *argv0);
const char *err_program_name(void);
noreturn void die(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The same, with ": " and the text of errno at the end. */
noreturn void die_errno(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The reason, the synopsis, one line "try '... --help'", exit 2. */
noreturn void die_usage(const char *fmt, ...) PRINTF_LIKE(1, 2);
void warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* Warns, and lets exit_status() answer EXIT_DOUBT. */
void doubt(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* A line on stderr without the word of a failure (summaries of -v). */
void note(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* EXIT_DONE, or EXIT_DOUBT after doubt(): what main() returns. */
int exit_status(void);
/* What die_usage() shows as the synopsis; borrowed. opt_start() calls it. */
void err_synopsis(const char *synopsis);
/* Called by die() before the process ends (removes temporary files). */
void err_at_death(void (*fn)(void));
/*
 * A child of this process that it must not leave behind: when it dies, the
 * child is ended and waited for, so that no word of it comes later.
 */
void child_began(pid_t pid);
/* It was waited for. */
void child_ended(pid_t pid);

/* ---- memory ---- */

/* Like malloc and friends, but out of memory ends the program. */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));

/*
 * A bump allocator: what it hands out lives until arena_reset() to an earlier
 * mark, or arena_destroy().  Alignment is that of max_align_t.
 */
struct arena;
struct arena *arena_create(void);
void arena_destroy(struct arena *a);
void *arena_alloc(struct arena *a, size_t size)
    __attribute__((returns_nonnull));
/* A copy in the arena, with a NUL behind it for the convenience of printf. */
struct str arena_str(struct arena *a, struct str s);
size_t arena_mark(const struct arena *a);
void arena_reset(struct arena *a, size_t mark);
size_t arena_bytes(const struct arena *a);

/* ---- vec: one growable array ---- */

#define VEC(type)              \
	struct {               \
		type *v;       \
		size_t n, cap; \
	}
/* Room for one more; the element's address. The array may move. */
#define vec_add(vec)                                                 \
	(((vec)->n == (vec)->cap                                     \
		 ? (void)((vec)->v = vec_grow((vec)->v, &(vec)->cap, \
			      (vec)->n + 1, sizeof *(vec)->v))       \
		 : (void)0),                                         \
	    &(vec)->v[(vec)->n++])
#define vec_push(vec, value) (*vec_add(vec) = (value))
#define vec_reserve(vec, want)                                                 \
	((want) > (vec)->cap                                                   \
		? (void)((vec)->v = vec_grow(                                  \
			     (vec)->v, &(vec)->cap, (want), sizeof *(vec)->v)) \
		: (void)0)
#define vec_free(vec) \
	(vec_release((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)
void *vec_grow(void *v, size_t *cap, size_t want, size_t size)
    __attribute__((returns_nonnull));
void vec_release(void *v);

/* ---- buf: growable bytes ---- */

struct buf {
	char *p;
	size_t len, cap;
};

void buf_room(struct buf *b, size_t more);
void buf_free(struct buf *b);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);

static inline void
buf_put(struct buf *b, const void *p, size_t n)
{
	if (UNLIKELY(b->cap - b->len < n))
		buf_room(b, n);
	if (n > 0)
		memcpy(b->p + b->len, p, n);
	b->len += n;
}

static inline void
buf_putc(struct buf *b, char c)
{
	if (UNLIKELY(b->cap == b->len))
		buf_room(b, 1);
	b->p[b->len++] = c;
}

static inline void
buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

/* Never NULL: an empty one may be handed to memcpy. */
static inline struct str
buf_str(const struct buf *b)
{
	return (struct str){ b->p != NULL ? b->p : "", b->len };
}

/* ---- hash, map, intern ---- */

/*
 * A fast hash of bytes for tables in memory. It differs between machines of
 * different byte order, so nothing printed may depend on it.
 */
static inline uint64_t
hash_mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

#define HASH_K0 UINT64_C(0x9e3779b97f4a7c15)
#define HASH_K1 UINT64_C(0xe7037ed1a0b428db)

static inline uint64_t
hash_load(const void *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

static inline uint64_t
hash_bytes(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = HASH_K0 ^ n;

	if (LIKELY(n >= 8)) {
		size_t last = n - 8, i;

		/* Overlapping loads: every byte counts, none behind is read. */
		for (i = 0; i < last; i += 16)
			h = hash_mix(h ^ hash_load(p + i, 8),
			    hash_load(p + (i + 8 < last ? i + 8 : last), 8) ^
				HASH_K1);
		return hash_mix(h ^ hash_load(p + last, 8), HASH_K1);
	}
	if (n >= 4)
		return hash_mix(
		    h ^ (hash_load(p, 4) << 32 | hash_load(p + n - 4, 4)),
		    HASH_K1);
	if (n > 0)
		h ^= (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
	return hash_mix(h, HASH_K1);
}

static inline uint64_t
hash_u64(uint64_t v)
{
	return hash_mix(v ^ HASH_K0, HASH_K1);
}

/* A map from 64-bit keys to 64-bit values: open addressing, no deletion. */
struct map {
	uint64_t *keys;
	uint64_t *vals;
	uint8_t *used;
	size_t n, cap; /* cap is 0 or a power of two */
};

/*
 * The value's place until the next map_put(), made with value 0 when missing
 * (*is_new says so, unless is_new is NULL).
 */
uint64_t *map_put(struct map *m, uint64_t key, bool *is_new);
/* The value's place or NULL. */
uint64_t *map_get(const struct map *m, uint64_t key);
void map_free(struct map *m);

/*
 * Bytes to dense ids from 0 and back; equal bytes, equal id. Strings live as
 * long as the table. About 40 bytes an entry besides the text.
 *
 * A slot holds 32 bits of the hash above id + 1, so that probing and growing
 * touch no entry whose hash differs: a hit costs two cache misses, one for the
 * slot and one for the entry, besides the text itself.
 */
struct intern_entry {
	const char *p;
	uint32_t len;
	uint32_t hash;
};

struct intern {
	struct arena *text;
	VEC(struct intern_entry) list;
	uint64_t *slots; /* hash << 32 | id + 1, or 0 */
	size_t nslots;   /* a power of two */
};

#define INTERN_NONE UINT32_MAX

struct intern *intern_create(void);
void intern_destroy(struct intern *t);
/* Forgets all strings; their memory is given back. */
void intern_clear(struct intern *t);
size_t intern_bytes(const struct intern *t);
/* With the hash of hash_bytes() already at hand. */
uint32_t intern_put_hashed(struct intern *t, struct str s, uint64_t hash);
/* INTERN_NONE when absent. */
uint32_t intern_find(const struct intern *t, struct str s, uint64_t hash);

static inline uint32_t
intern_put(struct intern *t, struct str s)
{
	return intern_put_hashed(t, s, hash_bytes(s.p, s.len));
}

static inline struct str
intern_get(const struct intern *t, uint32_t id)
{
	return (struct str){ t->list.v[id].p, t->list.v[id].len };
}

/* ---- num ---- */

/* The whole of s as a decimal integer; false if it is none or out of range. */
bool num_i64(struct str s, int64_t *out) USE_RESULT;
bool num_u64(struct str s, uint64_t *out) USE_RESULT;
/* A finite double, the whole of s. */
bool num_double(struct str s, double *out) USE_RESULT;
bool num_add(int64_t a, int64_t b, int64_t *out) USE_RESULT;

/*
 * A decimal number as mantissa x 10^exp10, exactly: up to 18 digits, no
 * leading zero added or lost that num_put_dec() would not restore.
 */
struct dec {
	int64_t mant;
	int exp10; /* -400..400 */
};

/*
 * Writes canonical text: exp10 < 0 gives a point and -exp10 decimals
 * ("0.050"), exp10 > 0 gives "<mant>e<exp10>". At most NUM_DEC_MAX bytes.
 */
#define NUM_DEC_MAX 432
size_t num_put_dec(char *out, struct dec d);
/*
 * Decimal x 10^shift rounded to the nearest integer, halves away from zero;
 * *exact says whether nothing was lost. False when it does not fit.
 */
bool num_dec_scale(
    struct dec d, int shift, int64_t *out, bool *exact) USE_RESULT;
/*
 * The same from text of any length ("1712195495519689.0470", "1.5e3"), rounded
 * to the nearest integer, halves away from zero. False when it is no number or
 * does not fit.
 */
bool num_text_scale(struct str s, int shift, int64_t *out) USE_RESULT;
double num_dec_double(struct dec d);

/* Decimal text of v at out (at most 20 bytes), the number of bytes. */
size_t num_put_i64(char *out, int64_t v);
size_t num_put_u64(char *out, uint64_t v);
/* The shortest decimal that reads back as v, as Python's repr prints it. */
#define NUM_DOUBLE_MAX 32
size_t num_put_double(char *out, double v);

/* ---- opt ---- */

/*
 * Options as one table: --help, --version and completion come from it.
 *
 *	static const struct opt options[] = {
 *		{ 'm', "min", "TIME", "keep events of at least TIME" },
 *		{ OPT_LONG + 1, "by", "WHAT", "group by dev, rank or step" },
 *		OPT_END,
 *	};
 *	opt_start(&op, argc, argv, &about, options);
 *	while ((ch = opt_next(&op)) != -1)
 *		...
 *	while ((path = opt_file(&op)) != NULL)
 *		...
 */
#define OPT_LONG 256 /* ch from here on: long form only */
/*
 * ch of options that areas add, see their headers: each area has numbers of
 * its own, so that a program can have the options of several.
 */
#define OPT_OF_STREAM 512
#define OPT_OF_TRACE 576
#define OPT_OF_MODEL 640
#define OPT_OF_TABLE 704
struct opt {
	int ch;
	const char *name;
	const char *arg; /* NULL: takes none; "[X]": optional */
	const char *help;
};
#define OPT_END                     \
	{                           \
		0, NULL, NULL, NULL \
	}

struct about {
	const char *purpose;  /* one line */
	const char *synopsis; /* after the program's name */
	const char *example;
};

struct optparse {
	const struct about *about;
	const struct opt *options;
	int argc;
	char **argv;
	int ind;         /* first operand, valid after opt_next gave -1 */
	const char *arg; /* argument of the option just read, or NULL */
	const char
	    *name; /* for messages: "--top", or "-n" without a long form */
	void *priv;
};

/* Also calls err_program(). --help, --version, --complete end the program. */
void opt_start(struct optparse *op, int argc, char *argv[],
    const struct about *about, const struct opt *options);
/* The command line as given, for provenance; owned by the area. */
char *const *opt_command(int *argc);
/* The next option's ch, or -1. A usage error ends the program. */
int opt_next(struct optparse *op);
/* op->arg as ...; a bad one is a usage error that quotes option and bound. */
int64_t opt_int(const struct optparse *op, int64_t min, int64_t max);
double opt_double(const struct optparse *op, double min, double max);
/* "900ns 2us 3ms 4s 5min" with decimals, in ns; a bare number is refused. */
int64_t opt_time(const struct optparse *op);
/* "64M": bytes, with K M G T as powers of 1024. */
int64_t opt_size(const struct optparse *op);
/*
 * Behind the options: the next operand, a FILE to read, or NULL; "-" where
 * there is none at all.
 *	while ((path = opt_file(&op)) != NULL)
 */
const char *opt_file(struct optparse *op);
/* Index of op->arg in a NULL-ended list of words. */
int opt_word(const struct optparse *op, const char *const words[]);
/* "A,B": two texts with one comma between them, neither empty. */
void opt_pair(const struct optparse *op, struct str pair[2]);
/* Text to ns as opt_time(); false if it is no time. */
bool time_parse(struct str s, int64_t *ns) USE_RESULT;

/* ---- the machine ---- */

/* Processors this process may use: affinity and cgroup quota, at least 1. */
int sys_cpus(void);
/* Peak resident memory of this process in bytes. */
uint64_t sys_peak_bytes(void);
/* Seconds of a clock that began at any time: differences tell something. */
double sys_wall_s(void);
double sys_cpu_s(void);
/*
 * The last line of -v: what was done, and behind it ", 1.234 s, 1.200 s CPU,
 * 56.7 MB": time since sys_start(), and this process's peak memory.
 */
void note_cost(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The program begins. opt_start() calls it. */
void sys_start(void);
/*
 * No file that is opened becomes a standard one: of a standard input, output
 * or error that was closed, reading or writing fails as before.
 */
void sys_keep_std(void);
/* The directory of the running program, "" if it can't be had. */
const char *sys_bindir(void);
/* One of our programs: beside this one if it is there, else by PATH. Owned. */
char *sys_program(const char *name);

#endif
