/* SPDX-License-Identifier: MIT */
/* unsafe: characters that are shown as escapes wherever text is written */
#ifndef TL_BASE_UNSAFE_H
#define TL_BASE_UNSAFE_H

#include "base/c.h"

/* Whether it reorders or hides text, moves the cursor, or is no character. */
bool char_is_unsafe(uint32_t cp);

#endif
