-- SPDX-License-Identifier: MIT
-- The tables of events, described in tl-sql(1); events.c fills them.
CREATE TABLE sources (
    src INTEGER PRIMARY KEY,
    name TEXT,
    rank INTEGER,
    base_ns INTEGER,
    epoch_ns INTEGER,
    facts TEXT
);
CREATE TABLE strings (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL
);
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    src INTEGER NOT NULL REFERENCES sources,
    id INTEGER NOT NULL,
    inst INTEGER NOT NULL,
    kind TEXT NOT NULL,
    cat_id INTEGER REFERENCES strings,
    name_id INTEGER REFERENCES strings,
    ts_ns INTEGER,
    dur_ns INTEGER,
    pid TEXT,
    tid TEXT,
    dev INTEGER,
    gpu_stream INTEGER,
    corr INTEGER,
    ext INTEGER,
    parent INTEGER REFERENCES events,
    launch INTEGER REFERENCES events,
    fwd INTEGER REFERENCES events,
    op INTEGER REFERENCES events,
    module INTEGER REFERENCES events,
    step INTEGER,
    depth INTEGER,
    ndesc INTEGER,
    ngpu INTEGER,
    flags TEXT,
    args TEXT
);
