#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write databases like rocprofv3's, by its schemas alone.

usage: tests/oracle/rocpd.py FILE [VERSION [OPTION...]]

VERSION is 3.0.0, 3.0.3 or 4.1.0. OPTIONs: bare (no suffix), plain (a suffix
without "_"), merged (three processes, two of them in one recording), lz4, null
(keys that are NULL or dangling), bad (values of other types), big=N (N kernels).
"""
import json
import os
import sqlite3
import sys

SCHEMA = {
    "metadata": "id,tag,value",
    "string": "id,guid,string",
    "info_node": "id,guid,hash,machine_id,hostname",
    "info_process": "id,guid,nid,ppid,pid,init,fini,start,end,command,"
                    "environment,extdata",
    "info_thread": "id,guid,nid,ppid,pid,tid,name,extdata",
    "info_agent": "id,guid,nid,pid,type,absolute_index,logical_index,"
                  "type_index,uuid,name,product_name,extdata",
    "info_queue": "id,guid,nid,pid,name",
    "info_stream": "id,guid,nid,pid,name",
    "info_kernel_symbol": "id,guid,nid,pid,code_object_id,kernel_name,"
                          "display_name,sgpr_count,arch_vgpr_count,"
                          "accum_vgpr_count,extdata",
    "info_pmc": "id,guid,nid,pid,agent_id,name,value_type",
    "track": "id,guid,nid,pid,tid,name_id",
    "event": "id,guid,category_id,stack_id,parent_stack_id,correlation_id,"
             "call_stack,line_info,extdata",
    "arg": "id,guid,event_id,position,type,name,value",
    "pmc_event": "id,guid,event_id,pmc_id,value",
    "region": "id,guid,nid,pid,tid,start,end,name_id,event_id",
    "sample": "id,guid,track_id,timestamp,event_id",
    "kernel_dispatch": "id,guid,nid,pid,tid,agent_id,kernel_id,dispatch_id,"
                       "queue_id,stream_id,start,end,private_segment_size,"
                       "group_segment_size,workgroup_size_x,workgroup_size_y,"
                       "workgroup_size_z,grid_size_x,grid_size_y,grid_size_z,"
                       "region_name_id,event_id",
    "memory_copy": "id,guid,nid,pid,tid,start,end,name_id,dst_agent_id,"
                   "dst_address,src_agent_id,src_address,size,queue_id,"
                   "stream_id,region_name_id,event_id",
    "memory_allocate": "id,guid,nid,pid,tid,agent_id,type,level,start,end,"
                       "address,size,queue_id,stream_id,event_id",
}
OF_TRACK = ("nid", "pid", "tid", "agent_id", "queue_id", "stream_id")
MOVED = ("region", "kernel_dispatch", "memory_copy", "memory_allocate")


class Recording:
    def __init__(self, db, version, suffix, options):
        self.db, self.version, self.suffix = db, version, suffix
        self.options, self.strings, self.next = options, {}, {}
        self.columns = {t: c.split(",") for t, c in SCHEMA.items()}
        if version == "3.0.3":
            self.columns["kernel_dispatch"] += ["graph_exec_id",
                                                "graph_node_id"]
            self.columns["pmc_event"] += ["sample_id"]
        if version == "4.1.0":
            self.columns["info_category"] = ["id", "guid", "name"]
            self.columns["track"] = ["id", "guid", "ppid", *OF_TRACK,
                                     "name_id"]
            self.columns["sample"].append("name_id")
            for t in MOVED:
                self.columns[t] = [c for c in self.columns[t]
                                   if c not in OF_TRACK] + ["track_id"]
        for t, columns in self.columns.items():
            self.db.execute(
                f'CREATE TABLE "rocpd_{t}{suffix}" ('
                + ", ".join(f'"{c}"' + (" INTEGER PRIMARY KEY" if c == "id"
                                        else "") for c in columns) + ")")
        self.put("metadata", tag="schema_version", value=version[:1])
        self.put("metadata", tag="uuid", value=suffix)
        if "lz4" in options:
            self.put("metadata", tag="compression", value="lz4-frame-v1")

    def put(self, table, **row):
        """A row; the track's values go into its table if the schema says so."""
        columns = self.columns[table]
        moved = [c for c in OF_TRACK if c in row and c not in columns]
        if moved and "track_id" in columns:
            row["track_id"] = self.put(
                "track", **{c: row.pop(c) for c in moved})
        row = {c: v for c, v in row.items() if c in columns}
        if "id" not in row and table != "metadata":
            row["id"] = self.next[table] = self.next.get(table, 0) + 1
        if isinstance(row.get("extdata"), dict):
            row["extdata"] = (b"\x04\x22\x4d\x18" if "lz4" in self.options
                              else json.dumps(row["extdata"]))
        names = ",".join(f'"{c}"' for c in row)
        self.db.execute(
            f'INSERT INTO "rocpd_{table}{self.suffix}" ({names}) VALUES '
            f'({",".join("?" * len(row))})', list(row.values()))
        return row.get("id")

    def string(self, s):
        if s not in self.strings:
            self.strings[s] = self.put("string", string=s)
        return self.strings[s]

    def category(self, s):
        if self.version != "4.1.0":
            return self.string(s)
        key = ("category", s)
        if key not in self.strings:
            self.strings[key] = self.put("info_category", name=s)
        return self.strings[key]

    def event(self, category, stack, parent=0, external=0, **extdata):
        return self.put("event", category_id=self.category(category),
                        stack_id=stack, parent_stack_id=parent,
                        correlation_id=external, extdata=extdata)

    def fill(self, process, pid, shift=0):
        """The specification's example."""
        p = process
        self.put("info_process", id=p, nid=1, pid=pid, init=9000 + shift,
                 fini=100000 + shift, command=f"./app {pid}",
                 environment=json.dumps(
                     {"RANK": "1a", "SLURM_PROCID": "9", "PMI_RANKS": "8",
                      "PMI_RANK": str(p - 1), "PMI_SIZE": "3",
                      "SLURM_NTASKS": "7", "TOKEN": "secret"}))
        t = self.put("info_thread", nid=1, pid=p, tid=pid + 1)
        cpu = self.put("info_agent", pid=p, type="CPU", absolute_index=0,
                       logical_index=0, type_index=0, name="EPYC",
                       product_name="EPYC", extdata={})
        gpu = self.put("info_agent", pid=p, type="GPU", absolute_index=4,
                       logical_index=4, type_index=0, name="gfx942",
                       product_name="AMD Instinct MI300X",
                       extdata={"cu_count": 304, "wave_front_size": 64})
        kernel = self.put("info_kernel_symbol", kernel_name="_Z3addPf.kd",
                          display_name="add(float*)", arch_vgpr_count=8,
                          accum_vgpr_count=0, sgpr_count=16, extdata={})
        here = {"nid": 1, "pid": p, "tid": t}
        on = {**here, "queue_id": 1, "stream_id": 2}

        def region(name, category, stack, parent, start, end, **extdata):
            event = self.event(category, stack, parent, **extdata)
            self.put("region", **here, start=start + shift, end=end + shift,
                     name_id=self.string(name), event_id=event)
            return event

        region("roctxThreadRangeA", "MARKER_CORE_RANGE_API", 1, 0, 10000,
               90000, message="step 1")
        copy = region("hipMemcpyAsync", "HIP_RUNTIME_API", 2, 1, 11000, 15000)
        self.put("arg", event_id=copy, position=1, type="size_t",
                 name="sizeBytes", value="4096")
        self.put("arg", event_id=copy, position=0, type="void*", name="dst",
                 value="0x7f00")
        region("hipLaunchKernel", "HIP_RUNTIME_API", 3, 1, 16000, 20000)
        track = self.put("track", **here, name_id=self.string("MARKER"))
        self.put("sample", track_id=track, timestamp=21000 + shift,
                 event_id=self.event("MARKER_CORE_API", 4, message="tick"))
        event = self.event("KERNEL_DISPATCH", 3, 3, 77)
        self.put("kernel_dispatch", **on, agent_id=gpu, kernel_id=kernel,
                 dispatch_id=1, start=30000 + shift, end=42000 + shift,
                 private_segment_size=0, group_segment_size=1024,
                 workgroup_size_x=256, workgroup_size_y=1, workgroup_size_z=1,
                 grid_size_x=65536, grid_size_y=1, grid_size_z=1,
                 region_name_id=self.string(""), event_id=event)
        dispatch = event
        waves = self.put("info_pmc", name="SQ_WAVES", value_type="ABS")
        for value in (100.0, 156.0):
            self.put("pmc_event", event_id=event, pmc_id=waves, value=value)
        watt = self.put("info_pmc", name="watt", value_type="ABS")
        event = self.event("", 0)
        self.put("sample", track_id=track, timestamp=22000 + shift,
                 event_id=event)
        self.put("pmc_event", event_id=event, pmc_id=watt, value=350.5)
        self.put("memory_copy", **on, start=14000 + shift, end=18000 + shift,
                 name_id=self.string("MEMORY_COPY_HOST_TO_DEVICE"),
                 dst_agent_id=gpu, src_agent_id=cpu, dst_address=32512,
                 src_address=4096, size=4096,
                 event_id=self.event("MEMORY_COPY", 2, 2))
        self.put("memory_allocate", **here, agent_id=gpu, type="ALLOC",
                 level="REAL", start=5000 + shift, end=6000 + shift,
                 address=32512, size=1 << 20,
                 event_id=self.event("MEMORY_ALLOCATION", 5))
        self.put("memory_allocate", **here, type="FREE", level="REAL",
                 start=95000 + shift, end=96000 + shift, address=32512,
                 size=0, event_id=self.event("MEMORY_ALLOCATION", 6))
        if self.version == "3.0.3":  # a streaming counter of the dispatch
            sample = self.put("sample", track_id=track,
                              timestamp=31000 + shift)
            self.put("pmc_event", event_id=dispatch, pmc_id=waves, value=7.0,
                     sample_id=sample)
        if "null" in self.options:
            self.put("kernel_dispatch", **{**on, "pid": p}, kernel_id=99,
                     start=50000, end=50500)
            self.put("region", pid=p, start=51000, end=51500,
                     name_id=self.string("lost"))
        if "bad" in self.options:
            self.put("region", pid="x", tid=1.5, start="", end=b"\x00",
                     name_id="n", event_id=None)
            self.put("kernel_dispatch", **on, agent_id="a", kernel_id=None,
                     start=60000, end=50000, grid_size_x=-1,
                     grid_size_y="y", grid_size_z=0, workgroup_size_x=0,
                     workgroup_size_y=None, workgroup_size_z=2 ** 62,
                     event_id=2 ** 63 - 1)
        for i in range(self.options.get("big", 0)):
            at = 100000 + 20 * i
            for table, category in (("region", "HIP_RUNTIME_API"),
                                    ("kernel_dispatch", "KERNEL_DISPATCH")):
                self.put(table, **(on if table != "region" else here),
                         agent_id=gpu, kernel_id=kernel, start=at,
                         end=at + 10, name_id=self.string("hipLaunchKernel"),
                         event_id=self.event(category, 100 + i))


def main():
    path, version = sys.argv[1], (sys.argv[2:] or ["3.0.0"])[0]
    options = {w.split("=")[0]: int(w.split("=")[1]) if "=" in w else True
               for w in sys.argv[3:]}
    if os.path.exists(path):
        os.unlink(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 512")
    suffix = ("" if "bare" in options else "a1b2" if "plain" in options
              else "_0198c1f2_7000_7d1f_8a3b_00000000007f")
    recording = Recording(db, version, suffix, options)
    recording.put("info_node", id=1, hostname="node1")
    recording.fill(1, 500)
    if "merged" in options:
        recording.fill(2, 600, 1000)
        other = Recording(db, version, suffix + "_2", options)
        other.put("info_node", id=1, hostname="node2")
        other.fill(1, 700, 2000)
    # the formats' own views lose rows: no program may read them
    db.execute(f'CREATE VIEW kernels AS SELECT * FROM '
               f'"rocpd_kernel_dispatch{suffix}" WHERE 0')
    db.commit()


main()
