/* SPDX-License-Identifier: MIT */
/*
 * Shared by the fuzzers of formats: tl-decode's readers on a text in memory.
 *
 * The readers end the program on bad input, ask for more bytes, and write a
 * stream. The functions for that are replaced here, each area's file as a
 * whole, so that the linker takes none of it: die() jumps back, the window
 * grows by a step that the test chooses, moving each time (so that a pointer
 * into the old one is found), and events are checked and hashed instead of
 * written.
 */
#ifndef TL_FUZZ_DECODE_H
#define TL_FUZZ_DECODE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/tl-decode/format.h"
#include "tests/fuzz/death.h"

/* The result of a text. */
struct outcome {
	bool is_good;
	uint64_t events, hash;
	uint64_t first; /* event of the current source */
};

static const uint8_t *text;
static size_t text_len, text_step;
static unsigned char *window;
static int file;
static struct outcome seen;
static struct dict *dict;
static bool salvages;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- instead of report.c ---- */

struct report_arg
report_text(const char *s)
{
	return (struct report_arg){ .text = { s, 0 } };
}

struct report_arg
report_str(struct str s)
{
	return (struct report_arg){ .text = s };
}

struct report_arg
report_int(int64_t n)
{
	return (struct report_arg){ .n = n };
}

struct report_arg
report_uint(uint64_t n)
{
	return (struct report_arg){ .n = (int64_t)n };
}

const char *
report_reason(enum reason why)
{
	CHECK(why < REASON_COUNT);
	return "";
}

void
report_args(const struct report_arg *args)
{
	(void)args;
}

/* ---- instead of in.c ---- */

struct in *
in_open(const char *path)
{
	(void)path;
	abort();
}

struct in *
in_open_filter(in_filter_fn *fn, void *arg, const char *name)
{
	(void)fn;
	(void)arg;
	(void)name;
	abort();
}

static struct in whole_file;

/* All of a file at once, in a block of its size. */
struct in *
in_open_fd(int fd, const char *name)
{
	size_t len = text_len;
	unsigned char *p = malloc(len + IN_PAD);

	CHECK(p != NULL && pread(fd, p, len, 0) == (ssize_t)len);
	memset(p + len, 0, IN_PAD);
	close(fd);
	whole_file = (struct in){ .p = p,
		.end = p + len,
		.end_offset = len,
		.eof = true,
		.name = name };
	return &whole_file;
}

struct in *
in_open_mem(const void *bytes, size_t len, const char *name)
{
	static struct in in;

	in = (struct in){ .p = bytes,
		.end = (const unsigned char *)bytes + len,
		.end_offset = len,
		.eof = true,
		.name = name,
		.release_at = (const unsigned char *)UINTPTR_MAX };
	return &in;
}

void
in_close(struct in *in)
{
	if (in == &whole_file)
		free((void *)(uintptr_t)(in->end - in->end_offset));
}

void
in_forget(struct in *in, const unsigned char *from, const unsigned char *to)
{
	(void)in;
	CHECK(from <= to);
}

/* The bytes from p on and text_step more, in a block of their own. */
bool
in_more(struct in *in)
{
	uint64_t at = in->end_offset - (uint64_t)(in->end - in->p);
	size_t keep = (size_t)(in->end - in->p);
	size_t len = keep + keep / 4 + text_step;
	unsigned char *next;

	CHECK(in->p <= in->end);
	if (in->eof)
		return false;
	if (len > text_len - at)
		len = text_len - at;
	next = malloc(len + IN_PAD);
	CHECK(next != NULL);
	memcpy(next, text + at, len);
	memset(next + len, 0, IN_PAD);
	free(window);
	window = next;
	in->p = window;
	in->end = window + len;
	in->end_offset = at + len;
	in->eof = in->end_offset == text_len;
	return len > keep;
}

void
in_release_slow(struct in *in)
{
	(void)in;
}

const char *
in_damage(const struct in *in)
{
	(void)in;
	return NULL;
}

void
in_tolerate(struct in *in)
{
	(void)in;
}

uint64_t
in_consumed(const struct in *in)
{
	return in->end_offset;
}

uint64_t
in_size(const struct in *in)
{
	(void)in;
	return text_len;
}

/* ---- instead of out.c ---- */

static void
see(const void *p, size_t n)
{
	seen.hash = hash_mix(seen.hash ^ hash_bytes(p, n), HASH_K0);
}

static void
see_value(const struct value *v)
{
	CHECK(v->type < VAL_COUNT);
	see(&v->type, sizeof v->type);
	if (v->type == VAL_INT)
		see(&v->i, sizeof v->i);
	else if (v->type == VAL_UINT)
		see(&v->u, sizeof v->u);
	else if (v->type == VAL_DEC)
		see(&v->dec.mant, sizeof v->dec.mant);
	else if (v->type >= VAL_NUM)
		see(v->s.p, v->s.len);
}

/* Every entry can be read, and together they have all the bytes. */
static void
see_entries(const struct event *ev)
{
	struct entries it = entries_of(dict, ev);
	struct buf again = { 0 };
	uint32_t n = 0;

	while (entries_next(&it)) {
		struct str key = dict_get(dict, it.entry->key);

		see(key.p, key.len);
		see_value(&it.val);
		value_encode(&again, &it.val);
		n++;
	}
	CHECK(n == ev->shape->nentries && again.len == ev->vals_len);
	CHECK(again.len == 0 || memcmp(again.p, ev->vals, again.len) == 0);
	buf_free(&again);
}

void
stream_write(struct stream_out *o, const struct event *ev)
{
	struct event keys = *ev;
	struct str name = dict_get(dict, ev->name);
	int64_t end;

	(void)o;
	CHECK(ev->shape == dict->shapes.v[ev->shape_id]);
	CHECK(ev->track < dict->tracks.n && ev->dur_ns >= 0);
	CHECK(ev->shape->nentries <= SHAPE_MAX_ENTRIES);
	CHECK(num_add(ev->ts_ns, ev->dur_ns, &end));
	CHECK(event_set_keys(dict, &keys));
	CHECK(ev->uid.id == seen.events - seen.first);
	seen.events++;
	see(&ev->ts_ns, sizeof ev->ts_ns);
	see(&ev->dur_ns, sizeof ev->dur_ns);
	if (ev->shape->has & HAS_NAME)
		see(name.p, name.len);
	see_entries(ev);
}

void
stream_write_source(struct stream_out *o, const struct source *s)
{
	(void)o;
	if (s->is_final)
		seen.first = seen.events;
	for (size_t i = 0; i < s->nfacts; i++)
		see_value(&s->facts[i].val);
}

void
stream_write_meta(struct stream_out *o, const struct meta *m)
{
	(void)o;
	see(m->fact.key.p, m->fact.key.len);
	see_value(&m->fact.val);
}

void
stream_mark(struct stream_out *o, unsigned marks)
{
	(void)o;
	(void)marks;
}

void
stream_write_clear(struct stream_out *o)
{
	(void)o;
}

/* ---- one run ---- */

/* For formats that seek, with the text as a file. */
static void
read_as_file(const struct format *format, struct source_state *s)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, text, text_len) == (ssize_t)text_len);
	file = fd;
	format->read_file(s, fd);
}

/* Reads the text in such steps; kinds: of the events to write. */
static struct outcome
decode(const struct format *format, const uint8_t *data, size_t size,
    size_t step, uint32_t kinds)
{
	static struct source_state s;
	static struct in in;
	static struct counts counts;
	static struct settings set;

	text = data;
	text_len = size;
	text_step = step;
	window = calloc(1, IN_PAD);
	CHECK(window != NULL);
	in = (struct in){ .p = window,
		.end = window,
		.eof = size == 0,
		.name = "stdin",
		.release_at = (const unsigned char *)UINTPTR_MAX };
	set = (struct settings){ .kinds = kinds, .salvage = salvages };
	seen = (struct outcome){ 0 };
	dict = dict_create();
	memset(&s, 0, sizeof s);
	s.set = &set;
	s.in = &in;
	s.dict = dict;
	s.counts = &counts;
	if (setjmp(on_death) == 0) {
		if (format->read_file != NULL) {
			read_as_file(format, &s);
		} else {
			format->read(&s);
			CHECK(in.eof && in.p == in.end);
		}
		seen.is_good = true;
	}
	source_close(&s);
	if (format->read_file != NULL)
		close(file);
	dict_destroy(dict);
	free(window);
	return seen;
}

/* The result is the same for every window. */
static void
compare(const struct format *format, const uint8_t *data, size_t size)
{
	struct outcome whole = decode(format, data, size, size + 1, KINDS_ALL);
	struct outcome pieces =
	    decode(format, data, size, 1 + size / 7, KINDS_ALL);
	struct outcome bytes;

	CHECK(whole.is_good == pieces.is_good);
	CHECK(whole.events == pieces.events && whole.hash == pieces.hash);
	if (size > 2000)
		return;
	bytes = decode(format, data, size, 1, KINDS_ALL);
	CHECK(whole.is_good == bytes.is_good);
	CHECK(whole.events == bytes.events && whole.hash == bytes.hash);
}

#endif
