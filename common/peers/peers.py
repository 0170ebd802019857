#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the stages' variants and what one would use instead, all in turn with the course's clock:
the kernels of the 2018 paper, OneFlow's and FasterTransformer's (rebuilt from their descriptions, and
on request from a checkout), cuDNN, PyTorch (eager and compiled) and Triton. `./stages run 03 --peers`
calls it; `--help` lists its flags.

Each result is held to the fp64 reference before and after the timing, and a wrong one gets no time.
A contender that cannot take part is left out by name, with the reason."""

import argparse
import gc
import itertools
import json
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from contenders import (FasterTransformer, LibraryContenders, Matrices, OneFlow, Skipped,
                        TorchContenders)
from stages_library import (DTYPES, ITEM_SIZES, NOT_SUPPORTED, Library, StagesError,
                            WorkFailed)

# Peers promise no error bound: they use faster exponentials, or add 1e-6 to a sum. They may be off
# this many times the bound of our own kernels; a wrong kernel is off by far more.
PEER_ALLOWANCE = 16

# The paper's two batches. Widths: its own, 63 * 2^i, from about a thousand on, and round ones.
ROUND_COLS = (10, 100, 1000, 4000, 10000, 32000, 100000, 128256, 1000000)
PAPER_COLS = {4000: tuple(63 * 2**i for i in range(4, 12)),  # to 129,024
              10: tuple(63 * 2**i for i in range(4, 15))}    # to 1,032,192
QUICK_SHAPES = ((4000, 4000), (10, 128256))

# What a full run times besides when one of these stages takes part: attention scores of 32 batches and
# 64 heads, the shapes of a well-known comparison of OneFlow with FasterTransformer.
SHAPES_OF_STAGES = {"04_warp_softmax": tuple((32 * 64 * length, length)
                                             for length in (16, 32, 64, 128, 256, 512)),
                    # Vocabularies, one row, and widths that no pack divides.
                    "05_smem_softmax": ((16384, 131072), (1, 262144), (1000000, 33),
                                        (64, 1000003))}

# And in the small types: the widths that OneFlow showed.
HALVES = ("float16", "bfloat16")
SHAPES_IN_HALVES = {"04_warp_softmax": ((49152, 256), (49152, 1024)),
                    "05_smem_softmax": ((49152, 4096), (49152, 8192), (8192, 16384), (8192, 32768),
                                        (4096, 50257), (8192, 151936))}


def course_shapes():
    return [(rows, cols) for rows in (4000, 10)
            for cols in sorted(set(ROUND_COLS) | set(PAPER_COLS[rows]))]


def works_of(operations, stages, options):
    """What to time, each an operation, a type and a shape."""
    dtypes = options.dtype or ["float32"]
    shapes = options.shape or (QUICK_SHAPES if options.quick else course_shapes())
    works = list(itertools.product(operations, dtypes, shapes))
    if not options.shape and not options.quick and "softmax" in operations:
        more = [shape for stage in stages for shape in SHAPES_OF_STAGES.get(stage, ())]
        works += itertools.product(["softmax"], dtypes, more)
        halves = [dtype for dtype in HALVES if dtype in (options.dtype or HALVES)]
        more = [shape for stage in stages for shape in SHAPES_IN_HALVES.get(stage, ())]
        works += itertools.product(["softmax"], halves, more)
    return works


def wants_compilation(operation, shape, shapes_given):
    """Whether torch.compile, a second or two a shape, is worth its time: always for softmax; for
    the other operations at the round widths."""
    return operation == "softmax" or shapes_given or shape[1] in ROUND_COLS


@dataclass
class Entry:
    """One line of a table: a contender at a shape, timed and found right."""
    contender: object
    timing: object
    max_relative_error: float


@dataclass
class Group:
    """What was timed in turn: one operation in one type at one shape."""
    operation: str
    dtype: str
    shape: tuple
    bytes: int
    roof_name: str
    roof: object = None
    empty: object = None
    entries: list = field(default_factory=list)

    def gigabytes_per_second(self, timing):
        return self.bytes / timing.us_median / 1e3

    def of_stage(self, stage):
        return [each for each in self.entries if each.contender.stage == stage]

    def peers(self):
        return [each for each in self.entries if each.contender.role == "peer"]

    def invalid(self):
        return [each for each in self.entries if each.contender.role == "invalid"]

    def best_peer(self):
        return min(self.peers(), key=lambda each: each.timing.us_median, default=None)


def judge(library, contender, matrices):
    """Runs the contender and returns its largest relative error; raises what is wrong with it. One
    that is known to be invalid has to be wrong."""
    if contender.produce:
        contender.produce()
    else:
        matrices.y.poison()
        contender.run(None)
    where = contender.result() if contender.result else matrices.y.pointer
    report = library.check(contender.judged_as, matrices.dtype, matrices.x.pointer, where,
                           matrices.rows, matrices.cols)
    allowed = 1 if contender.role == "ours" else PEER_ALLOWANCE
    right = report.checked > 0 and report.share_of_bound <= allowed
    if contender.role == "invalid":
        if right:
            raise WrongResult("known to be wrong, and here it is right")
    elif not right:
        raise WrongResult(report.description)
    return report.max_relative_error


class WrongResult(Exception):
    """A contender computed something else than it should."""


class Harness:
    def __init__(self, library, sources):
        self.library, self.sources = library, sources
        self.left_out = {}  # name -> reason -> the shapes it holds for
        self.wrong = []     # lines
        self.ours_wrong = False

    def leave_out(self, name, reason, group):
        shapes = self.left_out.setdefault(name, {}).setdefault(reason, [])
        shapes.append(f"{group.operation} {where_of(group)}")

    def report_wrong(self, contender, error, group):
        self.wrong.append(f"{contender.name}, {group.operation}, {where_of(group)}: {error}")
        self.ours_wrong = self.ours_wrong or contender.role == "ours"

    def time(self, operation, dtype, shape, compile_here):
        """A Group, or None where memory does not suffice."""
        library = self.library
        roof_name = "read" if operation == "log_sum_exp" else "copy"
        # x, y, the roof's copy, and what PyTorch allocates for its results.
        if ITEM_SIZES[dtype] * shape[0] * shape[1] * 5.5 > library.free_memory():
            print(f"  {operation} {text_of(shape)} left out: the GPU has too little memory free")
            return None
        matrices = Matrices(library, operation, dtype, shape)
        group = Group(operation, dtype, shape, matrices.bytes, roof_name)
        right = []
        for source in self.sources:
            for name in source.names(operation):
                if name == "torch_compile" and not compile_here:
                    self.leave_out(name, "compiled at the round widths only, but for softmax",
                                   group)
                    continue
                right += self._make(source, name, matrices, group)
        if right:
            self._time(right, matrices, group)
        for source in self.sources:
            source.release()
        return group

    def _make(self, source, name, matrices, group):
        try:
            contender = source.make(name, matrices)
            return [(contender, judge(self.library, contender, matrices))]
        except Skipped as skipped:
            self.leave_out(name, str(skipped), group)
        except StagesError as error:
            if error.code != NOT_SUPPORTED:
                raise
            self.leave_out(name, str(error).removeprefix(name + ": "), group)
        except WrongResult as error:
            self.report_wrong(contender, error, group)
        except Exception as error:  # PyTorch and Triton have many of their own
            self.leave_out(name, in_one_line(error), group)
        return []

    def _time(self, right, matrices, group):
        timings = []
        while right and not timings:
            gc.disable()  # a collection in the middle of a launch would only cost a repetition
            try:
                timings, group.roof, group.empty = self.library.time(
                    [contender.run for contender, _ in right], group.roof_name,
                    matrices.x.pointer, matrices.x.size)
            except WorkFailed as failure:
                contender, _ = right.pop(failure.index)
                self.leave_out(contender.name, in_one_line(failure.__cause__), group)
            finally:
                gc.enable()
        for (contender, error), timing in zip(right, timings):
            try:
                error = max(error, judge(self.library, contender, matrices))
                group.entries.append(Entry(contender, timing, error))
            except WrongResult as wrong:
                self.report_wrong(contender, f"after the timing, {wrong}", group)
            contender.forget()


def record(group, stage, backend, name, role, timing, max_relative_error):
    """One record of schema 1, as common/runner/record.cpp writes them."""
    rows, cols = group.shape
    return {"stage": stage, "variant": name, "role": role, "op": group.operation,
            "backend": backend, "dtype": group.dtype, "input": "normal", "rows": rows, "cols": cols,
            "shape": {"rows": rows, "cols": cols}, "bytes": group.bytes,
            "max_rel_err": max_relative_error,
            "us_median": timing.us_median, "us_min": timing.us_min, "us_p10": timing.us_p10,
            "us_p90": timing.us_p90, "us_empty": group.empty.us_median,
            "gbps": group.gigabytes_per_second(timing),
            "roof_gbps": group.gigabytes_per_second(group.roof)}


def records_of(group, stage, backend):
    """The stage's variants, each with the best peer as its baseline; the peers, then those that are
    invalid; the roof."""
    records = []
    best = group.best_peer()
    for entry in group.of_stage(stage) + group.peers() + group.invalid():
        one = record(group, stage, backend, entry.contender.name, entry.contender.role,
                     entry.timing, entry.max_relative_error)
        if entry.contender.role == "ours" and best:
            one["baseline"] = best.contender.name
            one["speedup"] = best.timing.us_median / entry.timing.us_median
        records.append(one)
    records.append(record(group, stage, backend, group.roof_name, "roof", group.roof, 0.0))
    return records


def write_records(folder, stage, header, records):
    """FOLDER/STAGE.peers.json, whole or not at all."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{stage}.peers.json"
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(json.dumps({**header, "records": records}, indent=1) + "\n")
    os.replace(unfinished, path)
    return path


def in_one_line(error):
    words = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {words[0][:150]}"


def text_of(shape):
    return f"{shape[0]} x {shape[1]}"


def where_of(group):
    """float32 goes without saying."""
    return text_of(group.shape) + ("" if group.dtype == "float32" else f" {group.dtype}")


def heading(title, context):
    return f"{title}{context:>{80 - len(title)}}\n{'-' * 80}"


def table_of(group, stage):
    """The lines of one group: ours, the peers from the fastest on, the invalid, the roof."""
    ours = group.of_stage(stage)
    best = min(ours, key=lambda each: each.timing.us_median)
    lines = [f"  {group.operation + ', ' + where_of(group):<36}"
             f"{'us':>10}{'GB/s':>9}{'of ' + group.roof_name:>9}{'ours':>12}"]

    def line(name, timing, ratio):
        lines.append(f"  {name:<36}{timing.us_median:>10.1f}"
                     f"{group.gigabytes_per_second(timing):>9.0f}"
                     f"{group.roof.us_median / timing.us_median:>9.2f}{ratio:>12}".rstrip())

    for entry in ours:
        line(entry.contender.name + " (ours)", entry.timing, "")
    for entry in sorted(group.peers(), key=lambda each: each.timing.us_median):
        ratio = entry.timing.us_median / best.timing.us_median
        line(entry.contender.name, entry.timing, f"{ratio:.2f}")
    for entry in group.invalid():
        line(entry.contender.name, entry.timing, "WRONG")
    line(group.roof_name, group.roof, "")
    return lines


def summary_of(groups, stage):
    """A line for each group: our best, the best peer, and how many times as long it takes."""
    lines = [f"  {'':<26}{'our best':<16}{'best peer':<29}{'ours':>7}"]
    for group in groups:
        best, ours = group.best_peer(), group.of_stage(stage)
        if not best or not ours:
            continue
        mine = min(ours, key=lambda each: each.timing.us_median)
        ratio = best.timing.us_median / mine.timing.us_median
        lines.append(f"  {group.operation + ' ' + where_of(group):<26}"
                     f"{mine.contender.name:<16}{best.contender.name:<29}{ratio:>7.2f}")
    return lines


LEGEND = """  GB/s: bytes of x and of the result over the median time, caches flushed. of copy
  (of read): share of the roof's speed, timed in turn. ours: how many times as long
  as our fastest above; WRONG: the results are, the time is for comparison."""


def left_out_lines(left_out):
    lines = []
    for name, reasons in left_out.items():
        for reason, shapes in reasons.items():
            unique = list(dict.fromkeys(shapes))
            where = unique[0] if len(unique) == 1 else f"{len(unique)} shapes, {unique[0]} first"
            lines.append(f"  left out: {name} ({where}): {reason}")
    return lines


def parse_shape(text):
    rows, cross, cols = text.partition("x")
    if not (cross and rows.isdigit() and cols.isdigit() and int(rows) and int(cols)):
        raise argparse.ArgumentTypeError(f"{text}: ROWSxCOLS is wanted, as in 4000x1000")
    return int(rows), int(cols)


def parse_arguments(words):
    parser = argparse.ArgumentParser(
        prog="peers.py", description="Times stages and what one would use instead, in turn.")
    parser.add_argument("stages", nargs="*", metavar="NN_name", help="default: all")
    parser.add_argument("--library", required=True, help="libstages.so, as the build made it")
    parser.add_argument("--shape", type=parse_shape, action="append", default=[],
                        help="ROWSxCOLS instead of the course's shapes; may be repeated")
    parser.add_argument("--dtype", choices=list(DTYPES), action="append", default=[],
                        help="element type; may be repeated; default: float32")
    parser.add_argument("--quick", action="store_true", help="fewer shapes")
    parser.add_argument("--variant", default="", help="of ours, only this one")
    parser.add_argument("--out", default="results", help="folder for the records")
    parser.add_argument("--oneflow", metavar="DIR",
                        help="a checkout of OneFlow, to compile and time")
    parser.add_argument("--fastertransformer", metavar="DIR",
                        help="a checkout of FasterTransformer v1, to compile and time")
    # `run` has these too; the peers are timed on normal input whatever they say.
    for flag in ("--input", "--save-output", "--device"):
        parser.add_argument(flag, help=argparse.SUPPRESS, action="append")
    parser.add_argument("--ask", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(words)


class Interruption:
    """Ctrl-C ends a run between two shapes: in the middle of one it would come back from a callback
    that cannot raise it. A second Ctrl-C ends it at once."""

    asked = False

    def __enter__(self):
        self.before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_):
        signal.signal(signal.SIGINT, self.before)

    def _ask(self, *_):
        self.asked = True
        signal.signal(signal.SIGINT, self.before)


def time_all(harness, works, shapes_given, interruption):
    """The groups of the works, each an operation, a type and a shape; and why they are not all: the
    GPU's error, or an interruption; or nothing."""
    groups = []
    terminal = sys.stderr.isatty()
    for number, (operation, dtype, shape) in enumerate(works, 1):
        if interruption.asked:
            return groups, "interrupted"
        if terminal:
            print(f"\r\033[K  timing {operation} and peers: {number} of {len(works)}", end="",
                  file=sys.stderr, flush=True)
        try:
            group = harness.time(operation, dtype, shape,
                                 wants_compilation(operation, shape, shapes_given))
        except StagesError as error:  # after a fault in a kernel nothing runs any more
            return groups, f"{operation} {text_of(shape)}: {error}"
        if group and group.entries:
            groups.append(group)
    if terminal:
        print("\r\033[K", end="", file=sys.stderr)
    return groups, ""


def stages_of(callables):
    return list(dict.fromkeys(each.group for each in callables if each.role == "ours"))


def run(library, options, sources):
    """Times everything, prints the tables, writes the records. Returns the exit status."""
    ours = sources[0]
    stages = stages_of(ours.callables)
    header = library.record_header()
    harness = Harness(library, sources)
    dtypes = options.dtype or ["float32"]
    works = works_of(ours.operations(), stages, options)

    with Interruption() as interruption:
        groups, stopped = time_all(harness, works, bool(options.shape), interruption)

    for source in sources:
        header.update(source.versions())
    for stage in stages:
        mine = [group for group in groups if group.of_stage(stage)]
        print(heading(f"{stage} and its peers", f"{header['gpu']}, {' '.join(dtypes)}"))
        for group in mine:
            print("\n".join(table_of(group, stage)) + "\n")
        print(LEGEND)
        if len(mine) > 1:
            print("\n" + "\n".join(summary_of(mine, stage)))
        records = [one for group in mine for one in records_of(group, stage, library.backend)]
        print(f"  records: {write_records(options.out, stage, header, records)}\n")
    for line in left_out_lines(harness.left_out):
        print(line)
    for line in harness.wrong:
        print(f"  WRONG, and not timed: {line}")
    if stopped:
        print(f"  The rest was not timed: {stopped}")
    return 1 if harness.ours_wrong or stopped else 0


def main(words):
    options = parse_arguments(words)
    library = Library(options.library)
    if library.backend != "cuda":
        print("peers: left out, all of them: they need a GPU, and this library was built for the "
              "CPU device", file=sys.stderr)
        return 0
    torch = TorchContenders()  # first: the library then finds the cuDNN that PyTorch has brought
    known = stages_of(library.callables())
    unknown = [stage for stage in options.stages if stage not in known]
    if unknown:
        print(f"peers: no stage is called {unknown[0]}; here are: {' '.join(known)}",
              file=sys.stderr)
        return 2
    ours = LibraryContenders(library, options.stages or known, options.variant)
    return run(library, options, [ours, torch, OneFlow(options.oneflow),
                                  FasterTransformer(options.fastertransformer)])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (StagesError, OSError) as error:
        print(f"peers: {error}", file=sys.stderr)
        sys.exit(1)
