/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's flight recorder: what each rank dumps of its last collectives, as a
 * pickle (TORCH_FR_DUMP_TEMP_FILE, nccl_trace_rank_N) or as JSON. Both have the
 * same members, so a pickle is made into JSON and read as that.
 */
#ifndef TL_DECODE_FLIGHT_H
#define TL_DECODE_FLIGHT_H

#include "cmd/tl-decode/json/trace.h"

/* The whole input as a dump in JSON. */
void flight_read(struct source_state *s);

#endif
