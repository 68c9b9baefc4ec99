/* SPDX-License-Identifier: MIT */
/*
 * element: the type of the tensors that a kernel works on, by its name. Names
 * with no type or with several give none.
 */
#ifndef TL_MODEL_ELEMENT_H
#define TL_MODEL_ELEMENT_H

#include "base/base.h"

/* As in traces: "float", "c10::Half"; len 0: unknown. */
struct str element_type(struct str kernel);

#endif
