/* SPDX-License-Identifier: MIT */
/* XLA's dumps: for any text, the record of all that it names is JSON. */
#include "cmd/tl-decode/hlo/hlo.h"
#include "cmd/tl-decode/hlo/module.h"

#include <stdlib.h>

#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_json(struct str record)
{
	struct buf padded = { 0 };
	enum json_token t;
	struct json j;

	buf_put(&padded, record.p, record.len);
	for (int i = 0; i < IN_PAD; i++)
		buf_putc(&padded, '\0');
	json_start(&j, padded.p, record.len);
	do
		t = json_next(&j);
	while (t > JSON_T_END);
	if (t != JSON_T_END)
		abort();
	buf_free(&padded);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "HloModule m\n";
	struct hlo *h = hlo_create();
	struct buf text = { 0 };
	struct hlo_module m;

	if (module_name_in((struct str){ (const char *)data, size }).len == 0)
		buf_put(&text, head, sizeof head - 1);
	buf_put(&text, data, size);
	module_read_text(&m, buf_str(&text));
	hlo_name(h, 1, STR("all-gather.1"), STR(""));
	for (size_t i = 0; i < m.insts.n; i++)
		hlo_name(h, 1, m.insts.v[i].name, STR(""));
	module_free(&m);
	check_json(hlo_dump_record(h, 1, buf_str(&text)));
	buf_free(&text);
	hlo_destroy(h);
	return 0;
}
