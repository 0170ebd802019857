#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records when each kernel of one layer of a model runs, on a GPU, with PyTorch's profiler:

    python3 common/peers/timeline.py --library libstages.so NN_name --variant V --shape 32x128,layers=12

A variant is captured into a CUDA graph, its result is held to the fp64 reference, and some replays are
traced. A layer is what the sequence of the kernels' names repeats. The record has the medians over all
layers but the first and the last, in microseconds since the layer's beginning, which is the end of the
layer before. DIR/NN_name.timeline.json, a record a line, is what NN_name/recorded/GPU/timeline.json holds."""

import argparse
import itertools
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from contenders import Skipped, Tensors, contender_of
from peers import WrongResult, judge, parse_shape, refusal_of
from peers_report import Group, problem_of, where_of, write_records
from stages_library import DTYPES, NOT_SUPPORTED, Library, StagesError, run_as_program
from torch_contenders import find_torch, in_graph

REPLAYS = 10       # that are traced
WARM_REPLAYS = 20  # before them, so that the clock is that of work
LEAST_LAYERS = 3   # the first and the last are left out

NO_GPU = 77  # exit status


class TimelineError(Exception):
    """What was traced has no layers, or something else is wrong with it: what, in words."""


@dataclass(frozen=True)
class Kernel:
    """One kernel of a trace; times in microseconds."""
    name: str
    begin: float
    end: float
    grid: str   # "(64, 2, 1)"
    block: str


# ---- from a trace to a layer


def kernels_in(trace):
    """The kernels of a trace in Chrome's format, in the order in which they begin."""
    def extent(event, key):
        return f"({', '.join(map(str, event.get('args', {}).get(key, [])))})"

    kernels = [Kernel(event["name"], event["ts"], event["ts"] + event["dur"],
                      extent(event, "grid"), extent(event, "block"))
               for event in trace.get("traceEvents", []) if event.get("cat") == "kernel"]
    return sorted(kernels, key=lambda each: each.begin)


def replays_in(kernels, count):
    """The kernels of each of so many replays, which ran one after the other."""
    if not kernels:
        raise TimelineError("the profiler recorded no kernels")
    each = len(kernels) // count
    replays = [kernels[at * each:(at + 1) * each] for at in range(count)]
    names = [[kernel.name for kernel in replay] for replay in replays]
    if len(kernels) % count or any(other != names[0] for other in names):
        raise TimelineError(f"{len(kernels)} kernels were recorded in {count} replays, and the replays differ")
    return replays


def repetition_in(names):
    """The period of the longest stretch of names that repeats itself, and where that begins and ends. Among periods
    of equally long stretches it is the shortest."""
    period, begin, end = 0, 0, 0
    for candidate in range(1, len(names) // LEAST_LAYERS + 1):
        run = 0
        for at in range(candidate, len(names) + 1):
            if at < len(names) and names[at] == names[at - candidate]:
                run += 1
                continue
            if run and run + candidate > end - begin and run >= (LEAST_LAYERS - 1) * candidate:
                period, begin, end = candidate, at - run - candidate, at
            run = 0
    if 2 * (end - begin) <= len(names):
        raise TimelineError(f"the names of the {len(names)} kernels have no period: at least {LEAST_LAYERS} layers of "
                            "the same kernels are needed")
    return period, begin, end


def middle_layers(names):
    """The period, and where each layer begins that is neither the first nor the last. Kernels before the first layer
    or after the last are those that the period leaves over."""
    period, begin, end = repetition_in(names)
    first = min(begin, len(names) % period)
    starts = range(first, len(names) - period + 1, period)[1:-1]
    middle = [start for start in starts if start >= begin and start + period <= end]
    if not middle:
        raise TimelineError(f"no layer of {period} kernels has one before and one after it")
    return period, middle


def layer_in(replays):
    """The kernels of a layer, sorted by their ends, as a record has them."""
    period, starts = middle_layers([kernel.name for kernel in replays[0]])
    kernels = []
    for place in range(period):
        begins, ends = [], []
        for replay, start in itertools.product(replays, starts):
            beginning = max(kernel.end for kernel in replay[:start])
            kernel = replay[start + place]
            begins.append(kernel.begin - beginning)
            ends.append(kernel.end - beginning)
        one = replays[0][starts[0] + place]
        kernels.append({"name": short_name(one.name), "grid": one.grid, "block": one.block,
                        "begin_us": round(median(begins), 3), "end_us": round(median(ends), 3)})
    return sorted(kernels, key=lambda each: each["end_us"])


def split_outside(text, separator):
    """The parts of a C++ name between separators that stand in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        if letter == separator and depth == 0:
            parts.append("")
            continue
        depth += (letter in "<(") - (letter in ">)")
        parts[-1] += letter
    return parts


NUMBER = r"(?:\(\w+\))?(?:-?\d+[ul]*|true|false)"
TILE = re.compile(rf"(?:\w+::)*(\w+<{NUMBER}(?:, ?{NUMBER})* ?>)")


def short_name(name):
    """"product_kernel Tile<128, 2>" of "void a::product_kernel<__half, a::Tile<128, 2>, a::Plain>(a::Problem)": the
    function's name, and of its template arguments the first whose own arguments are all numbers."""
    parts = split_outside(name.replace("(anonymous namespace)::", ""), " ")
    function = next((part for part in parts if "(" in part), parts[-1])
    bare = re.split("[<(]", function)[0]
    of_template = function.startswith(bare + "<")
    arguments = split_outside(function[len(bare) + 1:], ">")[0] if of_template else ""
    tiles = [TILE.fullmatch(each.strip()) for each in split_outside(arguments, ",")]
    tile = next(filter(None, tiles), None)
    return bare.rpartition("::")[2] + (f" {tile.group(1)}" if tile else "")


# ---- from a variant to a trace


class Tracer:
    """Traces a variant's graph on the GPU."""

    def __init__(self, torch):
        self.torch = torch

    def versions(self):
        return {"torch": self.torch.__version__}

    def trace(self, contender, tensors):
        """Of REPLAYS replays. WrongResult where they compute something else than they should."""
        torch = self.torch
        graph = in_graph(torch, contender.name, contender, tensors)
        judge(tensors.library, graph, tensors)
        for _ in range(WARM_REPLAYS):
            graph.run(None)
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            for _ in range(REPLAYS):
                graph.run(None)
                torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace.json")
            profiler.export_chrome_trace(str(path))
            return json.loads(path.read_text())


def record_of(library, tracer, variant, dtype, shape):
    """A variant's record. Skipped, StagesError, WrongResult or TimelineError where there is none."""
    operation = library.operations()[variant.operation]
    if refusal := refusal_of(library, operation, shape):
        raise Skipped(refusal)
    problem = shape.problem(operation, dtype)
    tensors = Tensors(library, operation, problem)
    group = Group(operation, dtype, shape, problem, tensors.cost,
                  library.record_fields(operation.name, problem))
    contender = contender_of(variant, tensors)
    kernels = kernels_in(tracer.trace(contender, tensors))
    record = problem_of(group, variant.group, library.backend, variant.variant, "ours")
    if variant.further:
        record["further"] = True
    return {**record, "kernels": layer_in(replays_in(kernels, REPLAYS))}


def lines_of(record):
    """A record as a table."""
    wide = max(len(kernel["name"]) for kernel in record["kernels"])
    lines = [f"  {'':<{wide}}{'begin':>9}{'end':>9}{'adds us':>9}"]
    before = 0.0
    for kernel in record["kernels"]:
        lines.append(f"  {kernel['name']:<{wide}}{kernel['begin_us']:>9.2f}{kernel['end_us']:>9.2f}"
                     f"{kernel['end_us'] - before:>9.2f}")
        before = kernel["end_us"]
    return lines


def run(library, options, tracer):
    """Traces every variant in every type at every shape, and writes the records. Returns the exit status."""
    ours = {each.variant: each for each in library.callables()
            if each.role == "ours" and each.group == options.stage}
    for name in options.variant:
        if name not in ours:
            print(f"timeline: {options.stage} has no variant {name}; it has: {' '.join(ours) or 'none'}",
                  file=sys.stderr)
            return 2
    records, status = [], 0
    for name, dtype, shape in itertools.product(options.variant, options.dtype or ["float32"], options.shape):
        where = f"{name}, {shape} {dtype}"
        try:
            records.append(record_of(library, tracer, ours[name], dtype, shape))
        except (Skipped, StagesError, WrongResult, TimelineError) as error:
            if isinstance(error, StagesError) and error.code != NOT_SUPPORTED:
                raise
            print(f"timeline: {where}: {error}", file=sys.stderr)
            status = 1
        else:
            print("\n".join([where, *lines_of(records[-1])]))
    if records:
        header = {**library.record_header(), **tracer.versions()}
        print(f"  records: {write_records(options.out, options.stage, header, records, 'timeline')}")
    return status


def parse_arguments(words):
    parser = argparse.ArgumentParser(
        prog="timeline.py", description="Records when each kernel of a layer of a model runs.")
    parser.add_argument("stage", metavar="NN_name")
    parser.add_argument("--library", required=True, help="libstages.so, as the build made it")
    parser.add_argument("--variant", action="append", required=True, help="may be repeated")
    parser.add_argument("--shape", type=parse_shape, action="append", required=True,
                        help="as 32x128x12x64,layers=12; may be repeated")
    parser.add_argument("--dtype", choices=list(DTYPES), action="append", default=[],
                        help="element type; may be repeated; default: float32")
    parser.add_argument("--out", default="results", help="folder for the records")
    return parser.parse_args(words)


def main(words):
    options = parse_arguments(words)
    torch, obstacle = find_torch()  # first: the library then finds the cuDNN that PyTorch brings
    library = Library(options.library)
    if library.backend != "cuda":
        obstacle = "it needs a GPU, and this library was built for the CPU device"
    if obstacle:
        print(f"timeline: {obstacle}", file=sys.stderr)
        return NO_GPU
    return run(library, options, Tracer(torch))


if __name__ == "__main__":
    run_as_program("timeline", main)
