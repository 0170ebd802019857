# SPDX-License-Identifier: MIT
"""Writes FOLDER/97_made_up.peers.json as peers.py does, of times that are made up."""

import sys
from pathlib import Path
from types import SimpleNamespace as Made

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "peers"))
import peers_report  # noqa: E402

STAGE = "97_made_up"


def timing(us):
    return Made(us_median=us, us_min=us, us_p10=us, us_p90=us)


def entry(name, role, us, part="", in_blocks=None):
    contender = Made(name=name, role=role, stage=STAGE if role == "ours" else "", further=role == "ours", part=part)
    return peers_report.Entry(contender, timing(us), 1e-7, in_blocks)


def group(roof, shown_as, operations):
    operation = Made(name="product", shown_as=shown_as, along="cols", roof=roof, usual_input="normal", unit="GB/s")
    problem = Made(sizes={"rows": 4, "cols": 8}, options={"causal": 1.0, "alpha": 0.5})
    made = peers_report.Group(operation, "float16", "4x8", problem,
                              Made(bytes=128, bytes_read=64, operations=operations), {"rows": 4, "cols": 8})
    made.roof, made.empty = timing(8.0), timing(2.0)
    made.entries = [entry("ours", "ours", 10.0, in_blocks=timing(9.0)), entry("lib/fast", "peer", 20.0),
                    entry("lib/bad", "invalid", 1.0), entry("lib/sum", "part", 5.0, peers_report.READS_ALONE)]
    return made


records = []
for each in (group("read", "product", 0), group("read", "question", 1e6)):
    records += peers_report.records_of(each, STAGE, "cuda")
header = {"schema": 1, "gpu": "G", "driver": "1", "cuda": "2", "nvcc": "3", "commit": "c", "date": "2026-01-01",
          "torch": "2.11", "triton": "3.6", "transformers": "5"}
peers_report.write_records(sys.argv[1], STAGE, header, records)
