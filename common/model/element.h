/* SPDX-License-Identifier: MIT */
/*
 * element: the type of the tensors that a kernel works on, by its name. Names
 * that say nothing, or several types, tell nothing.
 */
#ifndef TL_MODEL_ELEMENT_H
#define TL_MODEL_ELEMENT_H

#include "base/base.h"

/* As traces write it: "float", "c10::Half"; len 0: unknown. */
struct str element_type(struct str kernel);

#endif
