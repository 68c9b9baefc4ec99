/* SPDX-License-Identifier: MIT */
/* complete: what --complete prints after the options, such as columns. */
#ifndef TL_BASE_COMPLETE_H
#define TL_BASE_COMPLETE_H

#include "base/base.h"

/* put() appends lines that begin with two tabs, as an option has a name. */
void complete_with(void (*put)(struct buf *b, void *arg), void *arg);

#endif
