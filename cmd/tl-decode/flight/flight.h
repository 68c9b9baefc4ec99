/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's flight recorder: each rank's dump of its last collectives, as a
 * pickle (TORCH_FR_DUMP_TEMP_FILE, nccl_trace_rank_N) or as JSON with the same
 * members; a pickle is turned into JSON.
 */
#ifndef TL_DECODE_FLIGHT_H
#define TL_DECODE_FLIGHT_H

#include "cmd/tl-decode/json/trace.h"

/* Reads the input as a dump in JSON. */
void flight_read(struct source_state *s);

#endif
