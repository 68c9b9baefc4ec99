/* SPDX-License-Identifier: MIT */
/* The inside of output, for common/io/ only. */
#ifndef TL_IO_OUT_PRIV_H
#define TL_IO_OUT_PRIV_H

#include "io/io.h"

/* A temporary file, removed when the program dies before out_tmp_keep(). */
struct out_tmp;
/*
 * Makes one beside path and stores its descriptor; ends the program if it
 * can't.
 */
struct out_tmp *out_tmp_open(const char *path, int *fd);
const char *out_tmp_where(const struct out_tmp *t);
/* Opens it again, to append; -1 with errno. */
int out_tmp_reopen(const struct out_tmp *t) USE_RESULT;
/* Renames it to the path. 0, or -1 with errno. */
int out_tmp_keep(struct out_tmp *t) USE_RESULT;

struct out_zstd *out_zstd_create(const char *name, int level);
/* How far a piece of output is written. */
enum out_how {
	OUT_GATHER,
	OUT_FLUSH,
	OUT_END,
};
void out_zstd_put(struct out_zstd *z, const void *p, size_t n, enum out_how how,
    int fd, const char *name);
void out_zstd_destroy(struct out_zstd *z);
/* write_all(), or the end of the program. */
void out_put_fd(int fd, const void *p, size_t n, const char *name);

#endif
