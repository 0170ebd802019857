# SPDX-License-Identifier: MIT
"""What peers.py says of what it has timed: records of schema 1, tables, and who was left out."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

# What stands below a table, unless a family has words of its own.
LEGEND = """  GB/s (TFLOP/s): bytes that nobody can do without, read and written (operations), over
  the median time, caches flushed. of copy (of read, ...): share of the roof's speed,
  timed in turn. ours: how many times as long as our fastest above; WRONG: the results
  are, the time is for comparison; a part of the work: it does that alone."""


# Of the parts of a work, the one that writes none of its results: its bytes are those of a roof that is a read.
READS_ALONE = "row sum"


@dataclass
class Entry:
    """One line of a table: a contender at a shape, timed and found right."""
    contender: object
    timing: object
    max_relative_error: float
    in_blocks: object = None  # its timing with the GPU to itself for a while


@dataclass
class Group:
    """What was timed in turn: one operation in one type at one shape."""
    operation: object
    dtype: str
    shape: object
    problem: object
    cost: object
    fields: dict  # what its records have at their top
    roof: object = None
    empty: object = None
    entries: list = field(default_factory=list)

    @property
    def name(self):
        return self.operation.name

    def gigabytes_per_second(self, timing):
        return self.cost.bytes / timing.us_median / 1e3

    def teraflops(self, timing):
        return self.cost.operations / timing.us_median / 1e6

    def speed(self, timing):
        """In the operation's unit."""
        in_bytes = self.operation.unit == "GB/s"
        return self.gigabytes_per_second(timing) if in_bytes else self.teraflops(timing)

    def of_stage(self, stage):
        return [each for each in self.entries if each.contender.stage == stage]

    def peers(self):
        return [each for each in self.entries if each.contender.role == "peer"]

    def invalid(self):
        return [each for each in self.entries if each.contender.role == "invalid"]

    def parts(self):
        return [each for each in self.entries if each.contender.role == "part"]

    def best_peer(self):
        return min(self.peers(), key=lambda each: each.timing.us_median, default=None)


def _how_it_is_shown(operation):
    """Along which sizes a picture shows it, and what is not the usual."""
    fields = {"along": operation.along}
    if operation.shown_as != operation.name:
        fields["shown_as"] = operation.shown_as
    if operation.roof != "copy":
        fields["roof"] = operation.roof
    return fields


def _beside_the_shape(group):
    """Rows and columns where they come of the shape, the names of options, and whether tables leave it out."""
    fields = dict(group.fields)
    if fields.get("swept"):
        fields["swept"] = True
    if group.problem.options:
        fields["options"] = " ".join(sorted(group.problem.options))
    return fields


def shape_of(problem):
    """Options come as floating-point numbers; a whole one is written as such."""
    options = {name: int(value) if float(value).is_integer() else value
               for name, value in problem.options.items()}
    return {**problem.sizes, **options}


def problem_of(group, stage, backend, name, role):
    """Of a record: who computes what, at which shape."""
    return {"stage": stage, "variant": name, "role": role, "op": group.name,
            "backend": backend, "dtype": group.dtype, "input": group.operation.usual_input,
            **_how_it_is_shown(group.operation), **_beside_the_shape(group),
            "shape": shape_of(group.problem)}


def record(group, stage, backend, name, role, timing, max_relative_error, in_blocks=None):
    """One record of schema 1, as common/runner/record.cpp writes them."""
    one = {**problem_of(group, stage, backend, name, role), "bytes": group.cost.bytes}
    if group.operation.roof == "read":
        one["roof_bytes"] = group.cost.bytes_read
    if group.cost.operations:
        one["flops"] = group.cost.operations
    one.update({"max_rel_err": max_relative_error,
                "us_median": timing.us_median, "us_min": timing.us_min, "us_p10": timing.us_p10,
                "us_p90": timing.us_p90, "us_empty": group.empty.us_median,
                "gbps": group.gigabytes_per_second(timing),
                "roof_gbps": group.gigabytes_per_second(group.roof)})
    if group.cost.operations:
        one["tflops"] = group.teraflops(timing)
        one["roof_tflops"] = group.teraflops(group.roof)
    if in_blocks:
        one.update({"us_in_blocks": in_blocks.us_median, "us_in_blocks_p10": in_blocks.us_p10,
                    "us_in_blocks_p90": in_blocks.us_p90})
    return one


def records_of(group, stage, backend):
    """The stage's variants, each with the best peer as its baseline; the peers, then those that are
    invalid or do a part of the work alone; the roof."""
    records = []
    best = group.best_peer()
    for entry in group.of_stage(stage) + group.peers() + group.invalid() + group.parts():
        one = record(group, stage, backend, entry.contender.name, entry.contender.role,
                     entry.timing, entry.max_relative_error, entry.in_blocks)
        if entry.contender.further:
            one["further"] = True
        if entry.contender.part:
            one["part"] = entry.contender.part
            del one["max_rel_err"]
        if entry.contender.part == READS_ALONE:
            one["bytes"] = one.pop("roof_bytes")
            one["gbps"] = one["bytes"] / entry.timing.us_median / 1e3
            one["roof_gbps"] = one["bytes"] / group.roof.us_median / 1e3
        if entry.contender.role == "ours" and best:
            one["baseline"] = best.contender.name
            one["speedup"] = best.timing.us_median / entry.timing.us_median
        records.append(one)
    records.append(record(group, stage, backend, group.operation.roof, "roof", group.roof, 0.0))
    return records


def json_lines(document):
    """A record a line, as common/records writes them."""
    def compact(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    head = compact({key: value for key, value in document.items() if key != "records"})
    return f'{head[:-1]},"records":[\n' + ",\n".join(map(compact, document["records"])) + "\n]}\n"


def write_records(folder, stage, header, records, kind="peers"):
    """FOLDER/STAGE.KIND.json, whole or not at all."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{stage}.{kind}.json"
    unfinished = path.with_name(path.name + ".part")
    try:
        unfinished.write_text(json_lines({**header, "records": records}))
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def in_one_line(error):
    words = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {words[0][:150]}"


def where_of(group):
    """float32 goes without saying."""
    return str(group.shape) + ("" if group.dtype == "float32" else f" {group.dtype}")


def heading(title, context):
    return f"{title}{context:>{80 - len(title)}}\n{'-' * 80}"


def table_of(group, stage):
    """The lines of one group: ours, the peers from the fastest on, the invalid, what does a part of
    the work alone, the roof."""
    ours = group.of_stage(stage)
    best = min(ours, key=lambda each: each.timing.us_median)
    roof = group.operation.roof
    lines = [f"  {group.name + ', ' + where_of(group):<36}"
             f"{'us':>10}{group.operation.unit:>9}{'of ' + roof:>9}{'ours':>12}"]

    def line(name, timing, ratio):
        lines.append(f"  {name:<36}{timing.us_median:>10.1f}{group.speed(timing):>9.0f}"
                     f"{group.roof.us_median / timing.us_median:>9.2f}{ratio:>12}".rstrip())

    for entry in ours:
        line(entry.contender.name + " (ours)", entry.timing, "")
    for name, entry in without_repetition(group.peers()):
        ratio = entry.timing.us_median / best.timing.us_median
        line(name, entry.timing, f"{ratio:.2f}")
    for entry in group.invalid():
        line(entry.contender.name, entry.timing, "WRONG")
    for entry in sorted(group.parts(), key=lambda each: each.timing.us_median):
        line(entry.contender.name, entry.timing, entry.contender.part)
    line(roof, group.roof, "")
    in_blocks = [each for each in ours + group.peers() if each.in_blocks]
    if in_blocks:
        lines.append("  with the GPU to itself, in blocks of a fifth of a second:")
    for entry in sorted(in_blocks, key=lambda each: each.in_blocks.us_median):
        lines.append(f"    {entry.contender.name:<34}{entry.in_blocks.us_median:>10.1f}"
                     f"{group.speed(entry.in_blocks):>9.0f}")
    return lines


FEW = 3  # so many of one library have a line each


def library_of(name):
    return name.partition("/")[0]


def without_repetition(peers):
    """Names and entries, from the fastest on: of a library with many, the fastest and the slowest."""
    peers = sorted(peers, key=lambda each: each.timing.us_median)
    libraries = [library_of(each.contender.name) for each in peers]
    shown = []
    for at, (each, library) in enumerate(zip(peers, libraries)):
        name, count = each.contender.name, libraries.count(library)
        if count <= FEW:
            shown.append((name, each))
        elif library not in libraries[:at]:
            shown.append((f"{name}, best of {count}", each))
        elif library not in libraries[at + 1:]:
            shown.append((f"{name}, the last", each))
    return shown


def summary_of(groups, stage):
    """A line for each group: our best, the best peer, and how many times as long it takes. Where that is more than 80
    columns, the group has a line of its own."""
    rows = []
    for group in groups:
        best, ours = group.best_peer(), group.of_stage(stage)
        if not best or not ours:
            continue
        mine = min(ours, key=lambda each: each.timing.us_median)
        ratio = best.timing.us_median / mine.timing.us_median
        rows.append((f"{group.name} {where_of(group)}", mine.contender.name, best.contender.name, f"{ratio:.2f}"))
    table = [("", "our best", "best peer", "ours"), *rows]
    wide, our, peer, _ = (max(len(row[column]) for row in table) for column in range(4))
    wide = wide if wide + our + peer + 15 <= 80 else 2
    lines = []
    for label, *names, ratio in table:
        if len(label) > wide:
            lines.append(f"  {label}")
            label = ""
        lines.append(f"  {label:<{wide}}  {names[0]:<{our}}  {names[1]:<{peer}}{ratio:>7}")
    return lines


def left_out_lines(left_out):
    """A line for each name and reason; for many names of one library that share a reason, one."""
    alike = {}  # library, shapes and reason -> names
    for name, reasons in left_out.items():
        for reason, shapes in reasons.items():
            unique = list(dict.fromkeys(shapes))
            where = unique[0] if len(unique) == 1 else f"{len(unique)} shapes, {unique[0]} first"
            alike.setdefault((library_of(name), where, reason), []).append(name)
    lines = []
    for (_, where, reason), names in alike.items():
        if len(names) > FEW:
            names = [f"{names[0]} and {len(names) - 1} like it"]
        lines += [f"  left out: {name} ({where}): {reason}" for name in names]
    return lines
