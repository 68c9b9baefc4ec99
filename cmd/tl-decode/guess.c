/* SPDX-License-Identifier: MIT */
/* Guesses what an input is that no format reads. */
#include "cmd/tl-decode/decode.h"

struct magic {
	size_t at;
	struct str bytes;
	const char *is;
};

#define RECORD_JSON "record with rocprofv3 --output-format json"
#define ROCPROF_CSV "looks like rocprof's CSV: pass the JSON beside it"

static const struct magic magics[] = {
	{ 0, STR_INIT("\x89TLS"),
	    "is an event stream already: look at it with tl-cat" },
	{ 0, STR_INIT("{\"tl\":"),
	    "is an event stream already: look at it with tl-cat" },
	{ 0, STR_INIT("\x1f\x8b"),
	    "looks like gzip within gzip: it was compressed twice" },
	{ 0, STR_INIT("\x28\xb5\x2f\xfd"),
	    "looks like zstd within another compression" },
	{ 0, STR_INIT("BZh"), "looks like bzip2: decompress it first" },
	{ 0,
	    STR_INIT("\xfd"
		     "7zXZ"),
	    "looks like xz: decompress it first" },
	{ 0, STR_INIT("version https://git-lfs"),
	    "is a Git LFS pointer: the file itself was not fetched" },
	{ 0,
	    STR_INIT("\x7f"
		     "ELF"),
	    "looks like a program" },
	{ 0, STR_INIT("\x89PNG"), "looks like a picture" },
	{ 0, STR_INIT("\"Index\",\"KernelName\""), ROCPROF_CSV },
	{ 0, STR_INIT("Index,KernelName"), ROCPROF_CSV },
	{ 0, STR_INIT("SQLite format 3"),
	    "looks like an SQLite database: this build lacks libsqlite3" },
	{ 0, STR_INIT("<"), "looks like XML or HTML" },
	{ 257, STR_INIT("ustar"), "looks like a tar archive" },
	{ 0, STR_INIT("\xff\xfe"), "looks like UTF-16 text" },
	{ 0, STR_INIT("\xfe\xff"), "looks like UTF-16 text" },
};

static bool
contains(const unsigned char *p, size_t len, struct str needle)
{
	return str_find((struct str){ (const char *)p, len }, needle, false) >=
	    0;
}

/* By field 1 of a protobuf message that is neither packet nor plane. */
static const char *
guess_protobuf(const unsigned char *p, size_t len)
{
	if (contains(p, len, STR("HloModule")) || contains(p, len, STR("jit_")))
		return "looks like an HLO protobuf";
	return "looks like a protobuf that is no Perfetto trace";
}

const char *
guess_bytes(const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
		const struct magic *m = &magics[i];

		if (len >= m->at + m->bytes.len &&
		    memcmp(p + m->at, m->bytes.p, m->bytes.len) == 0)
			return m->is;
	}
	if (len >= 2 && p[0] == 0x0a)
		return guess_protobuf(p, len);
	return NULL;
}

const char *
guess_key(struct str key)
{
	static const struct {
		struct str key;
		const char *is;
	} keys[] = {
		{ STR_INIT("tl"),
		    "is an event stream already: look at it with tl-cat" },
		{ STR_INIT("nodes"),
		    "looks like a PyTorch execution trace (Chakra), which "
		    "has no times" },
		{ STR_INIT("$schema"), "looks like a speedscope profile" },
		{ STR_INIT("device_traces"),
		    "looks like a PyTorch memory snapshot" },
		{ STR_INIT("segments"),
		    "looks like a PyTorch memory snapshot" },
		{ STR_INIT("resourceSpans"), "looks like OpenTelemetry" },
		{ STR_INIT("cells"), "looks like a notebook" },
	};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (str_eq(key, keys[i].key))
			return keys[i].is;
	return NULL;
}
