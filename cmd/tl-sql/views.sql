-- SPDX-License-Identifier: MIT
-- What is made when all events are there.
CREATE INDEX events_by_time ON events (ts_ns);
CREATE INDEX events_by_corr ON events (corr) WHERE corr IS NOT NULL;
CREATE INDEX events_by_kind ON events (kind);
CREATE INDEX events_by_parent ON events (parent) WHERE parent IS NOT NULL;

CREATE VIEW kernels AS
SELECT e.seq, e.src, e.id, name.text AS name, e.ts_ns, e.dur_ns,
    e.ts_ns + e.dur_ns AS end_ns, e.dev, e.gpu_stream, e.corr, e.launch,
    e.op, op_name.text AS op_name,
    replace(module_name.text, 'nn.Module: ', '') AS module_name,
    e.step, e.flags, e.args
FROM events e
LEFT JOIN strings name ON name.id = e.name_id
LEFT JOIN events op ON op.seq = e.op
LEFT JOIN strings op_name ON op_name.id = op.name_id
LEFT JOIN events module ON module.seq = e.module
LEFT JOIN strings module_name ON module_name.id = module.name_id
WHERE e.kind = 'kernel'
    AND instr(coalesce(e.flags, ''), 'duplicate') = 0;

CREATE VIEW ops AS
SELECT e.seq, e.src, e.id, name.text AS name, e.ts_ns, e.dur_ns,
    e.ts_ns + e.dur_ns AS end_ns, e.pid, e.tid, e.parent, e.fwd,
    replace(module_name.text, 'nn.Module: ', '') AS module_name,
    e.step, e.depth, e.ndesc, e.ngpu,
    json_extract(e.args, '$."Input Dims"') AS dims,
    json_extract(e.args, '$."Input type"') AS types,
    e.flags, e.args
FROM events e
LEFT JOIN strings name ON name.id = e.name_id
LEFT JOIN events module ON module.seq = e.module
LEFT JOIN strings module_name ON module_name.id = module.name_id
WHERE e.kind = 'op' AND instr(coalesce(e.flags, ''), 'stub') = 0;

CREATE VIEW launches AS
SELECT e.seq, e.src, e.launch, api.text AS api, call.ts_ns AS api_ts_ns,
    call.dur_ns AS api_ns, call.pid, call.tid,
    max(0, e.ts_ns - call.ts_ns - call.dur_ns) AS queue_ns,
    e.kind, name.text AS name, e.ts_ns, e.dur_ns, e.dev, e.gpu_stream,
    e.corr, e.op, op_name.text AS op_name, e.step
FROM events e
JOIN events call ON call.seq = e.launch
LEFT JOIN strings api ON api.id = call.name_id
LEFT JOIN strings name ON name.id = e.name_id
LEFT JOIN events op ON op.seq = e.op
LEFT JOIN strings op_name ON op_name.id = op.name_id
WHERE e.kind IN ('kernel', 'memcpy', 'memset')
    AND instr(coalesce(e.flags, ''), 'duplicate') = 0;
