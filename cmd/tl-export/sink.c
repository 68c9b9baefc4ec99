/* SPDX-License-Identifier: MIT */
/* sink: output, optionally through gzip or zstd. */
#include "cmd/tl-export/export.h"

#include <zlib.h>

#define Z_SIZE 65536

struct sink {
	struct out *out;
	uint64_t nbytes;
	bool is_gzip;
	z_stream z;
	unsigned char packed[Z_SIZE];
};

struct sink *
sink_open(const struct settings *set)
{
	struct sink *s = xcalloc(1, sizeof *s);
	struct str path = str_of(set->path != NULL ? set->path : "");
	enum pack pack = set->pack;

	if (pack == PACK_BY_NAME && str_ends(path, STR(".gz")))
		pack = PACK_GZIP;
	if (pack == PACK_BY_NAME && str_ends(path, STR(".zst")))
		pack = PACK_ZSTD;
	s->out = out_open(set->path);
	if (set->perfetto && out_is_terminal(s->out))
		die_usage("a protobuf cannot go to a terminal: use -o FILE or "
			  "a pipe");
	if (pack == PACK_BY_NAME)
		return s;
	if (out_is_terminal(s->out))
		die_usage("compressed output cannot go to a terminal: use -o "
			  "FILE or a pipe");
	if (pack == PACK_ZSTD) {
		out_zstd(s->out, set->level);
		return s;
	}
	s->is_gzip = true;
	/* 15 bits of window, plus 16 for a gzip header, without a date */
	if (deflateInit2(&s->z,
		set->level > 0 ? set->level : Z_DEFAULT_COMPRESSION, Z_DEFLATED,
		15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		die("zlib: out of memory");
	return s;
}

static void
pack(struct sink *s, const void *p, size_t n, int flush)
{
	s->z.next_in = (z_const Bytef *)p;
	s->z.avail_in = (uInt)n;
	do {
		s->z.next_out = s->packed;
		s->z.avail_out = Z_SIZE;
		(void)deflate(&s->z, flush);
		out_write(s->out, s->packed, Z_SIZE - s->z.avail_out);
	} while (s->z.avail_out == 0);
}

void
sink_write(struct sink *s, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	s->nbytes += n;
	if (!s->is_gzip) {
		out_write(s->out, p, n);
		return;
	}
	for (size_t part; n > 0; p += part, n -= part) {
		part = n < ((size_t)1 << 30) ? n : (size_t)1 << 30;
		pack(s, p, part, Z_NO_FLUSH);
	}
}

uint64_t
sink_finish(struct sink *s)
{
	uint64_t nbytes = s->nbytes;

	if (s->is_gzip) {
		pack(s, NULL, 0, Z_FINISH);
		deflateEnd(&s->z);
	}
	out_finish(s->out);
	vec_release(s);
	return nbytes;
}
