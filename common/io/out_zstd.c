/* SPDX-License-Identifier: MIT */
/* Output through zstd, with a checksum at the end of the frame. */
#include <stdlib.h>
#include <zstd.h>

#include "io/out_priv.h"

struct out_zstd {
	ZSTD_CCtx *z;
	size_t cap;
	unsigned char buf[];
};

struct out_zstd *
out_zstd_create(const char *name, int level)
{
	size_t cap = ZSTD_CStreamOutSize();
	struct out_zstd *z = xmalloc(sizeof *z + cap);

	z->cap = cap;
	z->z = ZSTD_createCCtx();
	if (z->z == NULL)
		die("%s: zstd: out of memory", name);
	ZSTD_CCtx_setParameter(z->z, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(z->z, ZSTD_c_checksumFlag, 1);
	return z;
}

void
out_zstd_put(struct out_zstd *z, const void *p, size_t n, enum out_how how,
    int fd, const char *name)
{
	static const ZSTD_EndDirective directive[] = {
		[OUT_GATHER] = ZSTD_e_continue,
		[OUT_FLUSH] = ZSTD_e_flush,
		[OUT_END] = ZSTD_e_end,
	};
	ZSTD_inBuffer ib = { p, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer ob = { z->buf, z->cap, 0 };

		left = ZSTD_compressStream2(z->z, &ob, &ib, directive[how]);
		if (ZSTD_isError(left))
			die("%s: zstd: %s", name, ZSTD_getErrorName(left));
		out_put_fd(fd, z->buf, ob.pos, name);
	} while (how == OUT_GATHER ? ib.pos < ib.size : left > 0);
}

void
out_zstd_destroy(struct out_zstd *z)
{
	ZSTD_freeCCtx(z->z);
	free(z);
}
