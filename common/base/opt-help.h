/* SPDX-License-Identifier: MIT */
/* Inside base only: what opt.c prints on request; each ends the program. */
#ifndef TL_BASE_OPT_HELP_H
#define TL_BASE_OPT_HELP_H

#include "base/base.h"

noreturn void help_print(const struct about *about, const struct opt *options);
noreturn void help_version(void);
/* For completion, a line per option: --long TAB -s TAB ARG TAB help */
noreturn void help_complete(const struct opt *options);

#endif
