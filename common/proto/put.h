/* SPDX-License-Identifier: MIT */
/*
 * put: fields of a protobuf message appended to a buffer, as pull.h reads them.
 *
 *	size_t packet = proto_begin(&b, 1);
 *	proto_put_number(&b, 8, timestamp);
 *	proto_put_bytes(&b, 23, name);
 *	proto_end(&b, packet);
 */
#ifndef TL_PROTO_PUT_H
#define TL_PROTO_PUT_H

#include "base/base.h"

void proto_put_number(struct buf *b, uint32_t field, uint64_t v);
void proto_put_fixed64(struct buf *b, uint32_t field, uint64_t v);
void proto_put_double(struct buf *b, uint32_t field, double v);
/* string, bytes, or a complete message */
void proto_put_bytes(struct buf *b, uint32_t field, struct str s);

/* A message: its fields are those appended until proto_end(). */
size_t proto_begin(struct buf *b, uint32_t field) USE_RESULT;
void proto_end(struct buf *b, size_t message);

#endif
