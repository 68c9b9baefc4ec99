/* SPDX-License-Identifier: MIT */
/* zstd, frame by frame; skippable frames are skipped. */
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "io/in_priv.h"

/*
 * The largest window accepted, 128 MiB, as in zstd(1) without --memory. It
 * bounds the memory that a hostile header can ask for.
 */
#define WINDOW_LOG_MAX 27

struct zstd {
	ZSTD_DStream *z;
	bool inside; /* in a frame */
	bool any;    /* a frame has ended */
};

static void *
zstd_create(void)
{
	struct zstd *s = xcalloc(1, sizeof *s);

	s->z = ZSTD_createDStream();
	if (s->z == NULL)
		die("zstd: out of memory");
	ZSTD_DCtx_setParameter(s->z, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return s;
}

static void
zstd_destroy(void *state)
{
	struct zstd *s = state;

	ZSTD_freeDStream(s->z);
	free(s);
}

static enum step
zstd_fault(struct zstd *s, size_t rc, uint64_t offset, struct sink *out)
{
	ZSTD_ErrorCode code = ZSTD_getErrorCode(rc);

	if (code == ZSTD_error_prefix_unknown && s->any)
		return sink_fault(
		    out, offset, "trailing data after the last zstd frame");
	if (code == ZSTD_error_checksum_wrong)
		return sink_fault(
		    out, offset, "zstd data are damaged: wrong checksum");
	if (code == ZSTD_error_frameParameter_windowTooLarge)
		return sink_fault(out, offset,
		    "zstd data need a window of more than 128 MiB");
	if (code == ZSTD_error_dictionary_wrong)
		return sink_fault(out, offset, "zstd data need a dictionary");
	return sink_fault(out, offset, "zstd data are damaged");
}

/* At the end of the file, with all output taken. */
static enum step
zstd_end(struct zstd *s, struct in_raw *raw, struct sink *out)
{
	if (!raw->eof)
		return STEP_HUNGRY;
	if (s->inside || !s->any)
		return sink_fault(
		    out, raw_offset(raw), "zstd data end too early");
	return STEP_END;
}

static enum step
zstd_step(void *state, struct in_raw *raw, struct sink *out)
{
	struct zstd *s = state;

	while (out->p < out->end) {
		ZSTD_inBuffer ib = { raw->p, (size_t)(raw->end - raw->p), 0 };
		ZSTD_outBuffer ob = { out->p, (size_t)(out->end - out->p), 0 };
		size_t rc;

		if (ib.size == 0 && !s->inside)
			return zstd_end(s, raw, out);
		rc = ZSTD_decompressStream(s->z, &ob, &ib);
		raw->p += ib.pos;
		/* first, as frames of old versions then report a full buffer */
		if (ZSTD_isError(rc))
			return zstd_fault(s, rc, raw_offset(raw), out);
		out->p += ob.pos;
		s->inside = rc != 0;
		s->any |= rc == 0;
		if (s->inside && raw->p == raw->end && out->p < out->end)
			return zstd_end(s, raw, out);
	}
	return STEP_FULL;
}

const struct codec codec_zstd = { zstd_create, zstd_step, zstd_destroy };
