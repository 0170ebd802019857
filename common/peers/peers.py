#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the stages' variants and what one would use instead, all in turn with the course's clock:
kernels of a paper and of other projects (rebuilt from their descriptions, and on request from a
checkout), cuDNN, PyTorch (eager and compiled) and Triton. `./stages run 03 --peers` calls it;
`--help` lists its flags.

Each result is held to the fp64 reference before and after the timing, and a wrong one gets no time.
A contender that cannot take part is left out by name, with the reason."""

import argparse
import gc
import itertools
import json
import pathlib
import signal
import sys
import time

import torch_contenders
from contenders import (LibraryContenders, Shape, Skipped, Tensors, family_module,
                        stage_module)
from peers_report import (LEGEND, Entry, Group, heading, in_one_line, left_out_lines, records_of,
                          shape_of, summary_of, table_of, where_of, write_records)
from stages_library import (DTYPES, NOT_SUPPORTED, Library, StagesError, WorkFailed,
                            run_as_program)

# Peers promise no error bound: they use faster exponentials, or add 1e-6 to a sum. They may be off
# this many times the bound of our own kernels; a wrong kernel is off by far more.
PEER_ALLOWANCE = 16


def timed_operations(operations, options):
    """Of these, by name, those to time: those asked for, or those that their families name."""
    def is_timed(operation):
        if options.operation:
            return operation.name in options.operation
        timed = getattr(family_module(operation.family), "TIMED_OPERATIONS", None)
        # A variant that is asked for by its name is to be timed, whatever it computes.
        return timed is None or operation.name in timed or options.variant != ""
    return {name: operation for name, operation in operations.items() if is_timed(operation)}


def families_of(operations):
    """Family -> the names of its operations."""
    families = {}
    for operation in operations.values():
        families.setdefault(operation.family, []).append(operation.name)
    return families


def refusal_of(library, operation, shape):
    """Why the operation has no such problem; empty where it has."""
    if not operation.form_of(len(shape.sizes)):
        return operation.shape_help
    try:
        library.describe(operation.name, shape.problem(operation, "float32"))
    except StagesError as error:
        return str(error)
    return ""


def works_of(library, operations, stages, options):
    """What to time, each an operation's name, a type and a shape."""
    works = []
    for family, names in families_of(operations).items():
        module = family_module(family)
        dtypes = options.dtype or getattr(module, "USUAL_DTYPES", ("float32",))
        if options.shape:
            works += [(name, dtype, shape)
                      for name, dtype, shape in itertools.product(names, dtypes, options.shape)
                      if not refusal_of(library, operations[name], shape)]
        elif hasattr(module, "works_of"):
            works += module.works_of(names, stages, options)
        else:  # where the course measures them
            few = options.quick or getattr(module, "AT_FEW_SHAPES", False)
            works += [(name, dtype, Shape(tuple(each.sizes.values()), tuple(each.options.items())))
                      for name in names for dtype in dtypes
                      for each in library.measured_problems(name, few)]
    return works


def judge(library, contender, tensors):
    """Runs the contender and returns its largest relative error; raises what is wrong with it. One
    that is known to be invalid has to be wrong. What does a part of the work alone is only run."""
    if contender.produce:
        contender.produce()
    else:
        tensors.poison()
        contender.run(None)
    if contender.role == "part":
        return 0.0
    originals = tensors.originals()
    operands = tensors.pointers_to_check(originals)
    if contender.result:
        operands.update(contender.result())
    report = library.check(contender.judged_as, tensors.problem, operands)
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
    def __init__(self, library, sources, shapes_given=False):
        self.library, self.sources, self.shapes_given = library, sources, shapes_given
        self.operations = library.operations()
        self.left_out = {}  # name -> reason -> the shapes it holds for
        self.wrong = []     # lines
        self.ours_wrong = False

    def leave_out(self, name, reason, group):
        shapes = self.left_out.setdefault(name, {}).setdefault(reason, [])
        shapes.append(f"{group.name} {where_of(group)}")

    def report_wrong(self, contender, error, group):
        self.wrong.append(f"{contender.name}, {group.name}, {where_of(group)}: {error}")
        self.ours_wrong = self.ours_wrong or contender.role == "ours"

    def time(self, name, dtype, shape):
        """A Group, or None where memory does not suffice."""
        library, operation = self.library, self.operations[name]
        problem = shape.problem(operation, dtype)
        if self._memory_needed(name, problem) > library.free_memory():
            print(f"  {name} {shape} left out: the GPU has too little memory free")
            return None
        tensors = Tensors(library, operation, problem)
        group = Group(operation, dtype, shape, problem, tensors.cost,
                      library.record_fields(name, problem))
        right = []
        for source in self.sources:
            for contender in source.names(name):
                right += self._make(source, contender, tensors, group)
        if right:
            self._time(right, tensors, group)
        for source in self.sources:
            source.release()
        return group

    def _memory_needed(self, name, problem):
        """In bytes, for the operands, what the roof writes, and what PyTorch allocates for its
        results."""
        operands = self.library.describe(name, problem)
        inputs = sum(each.bytes for each in operands if each.role != "out")
        return inputs + 4.5 * max(each.bytes for each in operands)

    def _make(self, source, name, tensors, group):
        stage, _, _ = name.rpartition("/")
        try:
            for module in (family_module(group.operation.family), stage_module(stage)):
                why_not_timed = getattr(module, "why_not_timed", None)
                if why_not_timed and (reason := why_not_timed(name, group.shape, group.dtype,
                                                              self.shapes_given)):
                    raise Skipped(reason)
            contender = source.make(name, tensors)
            return [(contender, judge(self.library, contender, tensors))]
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

    def _time(self, right, tensors, group):
        timings = []
        while right and not timings:
            gc.disable()  # a collection in the middle of a launch would only cost a repetition
            try:
                timings, group.roof, group.empty = self.library.time(
                    [contender.run for contender, _ in right], group.name, tensors.problem,
                    tensors.pointers())
            except WorkFailed as failure:
                contender, _ = right.pop(failure.index)
                self.leave_out(contender.name, in_one_line(failure.__cause__), group)
            finally:
                gc.enable()
        in_blocks = self._time_in_blocks([contender for contender, _ in right], timings, group)
        for index, ((contender, error), timing) in enumerate(zip(right, timings)):
            try:
                error = max(error, judge(self.library, contender, tensors))
                group.entries.append(Entry(contender, timing, error, in_blocks.get(index)))
            except WrongResult as wrong:
                self.report_wrong(contender, f"after the timing, {wrong}", group)
            contender.forget()


    def _time_in_blocks(self, contenders, timings, group):
        """Index -> timing, of those that their family wants to have timed so, too."""
        chosen_for_blocks = getattr(family_module(group.operation.family), "chosen_for_blocks", None)
        chosen = chosen_for_blocks(contenders, timings) if chosen_for_blocks else []
        if not chosen:
            return {}
        gc.disable()
        try:
            return dict(zip(chosen, self.library.time_in_blocks(
                [contenders[index].run for index in chosen])))
        except WorkFailed as failure:
            name = contenders[chosen[failure.index]].name
            self.leave_out(name, f"in blocks: {in_one_line(failure.__cause__)}", group)
            return {}
        finally:
            gc.enable()


def parse_shape(text):
    """"4000x1000", or "4000x1000,k=5"."""
    sizes, *options = text.split(",")
    pairs = [option.partition("=") for option in options]
    try:
        shape = Shape(tuple(int(size) for size in sizes.split("x") if size.isdecimal()),
                      tuple((name, float(value or 1)) for name, _, value in pairs))
    except ValueError:
        shape = Shape(())
    if not shape.sizes or 0 in shape.sizes or len(shape.sizes) != sizes.count("x") + 1:
        raise argparse.ArgumentTypeError(f"{text}: ROWSxCOLS is wanted, as in 4000x1000")
    return shape


def parse_arguments(words):
    parser = argparse.ArgumentParser(
        prog="peers.py", description="Times stages and what one would use instead, in turn.")
    parser.add_argument("stages", nargs="*", metavar="NN_name", help="default: all")
    parser.add_argument("--library", required=True, help="libstages.so, as the build made it")
    parser.add_argument("--shape", type=parse_shape, action="append", default=[],
                        help="ROWSxCOLS instead of the course's shapes; may be repeated")
    parser.add_argument("--dtype", choices=list(DTYPES), action="append", default=[],
                        help="element type; may be repeated; default: those of the operation, "
                             "mostly float32")
    parser.add_argument("--operation", metavar="NAME", action="append", default=[],
                        help="what to time of what the stages compute; may be repeated; default: "
                             "the plain ones of each family")
    parser.add_argument("--quick", action="store_true", help="fewer shapes")
    parser.add_argument("--variant", default="", help="of ours, only this one")
    parser.add_argument("--out", default="results", help="folder for the records")
    parser.add_argument("--resume", action="store_true",
                        help="of one stage: leave out what its records there have of this commit, "
                             "and keep that")
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
    """Ctrl-C, or what `timeout` sends, ends a run between two shapes: in the middle of one it would
    come back from a callback that cannot raise it. The next ends it at once, unless it is the same,
    handed on by the script that started this."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)
    SAME = 0.5  # seconds
    asked = None  # when

    def __enter__(self):
        self.before = {each: signal.signal(each, self._ask) for each in self.SIGNALS}
        return self

    def __exit__(self, *_):
        for each, handler in self.before.items():
            signal.signal(each, handler)

    def _ask(self, number, _):
        if self.asked is None:
            self.asked = time.monotonic()
        elif time.monotonic() - self.asked > self.SAME:
            self.__exit__()
            signal.raise_signal(number)


def time_all(harness, works, interruption, keep):
    """The groups of the works, each an operation, a type and a shape; and why they are not all: the
    GPU's error, or an interruption; or nothing. Calls keep(groups) after each, so that whoever ends
    this loses one shape at most."""
    groups = []
    terminal = sys.stderr.isatty()
    for number, (operation, dtype, shape) in enumerate(works, 1):
        if interruption.asked is not None:
            return groups, "interrupted"
        if terminal:
            print(f"\r\033[K  timing {operation} and peers: {number} of {len(works)}", end="",
                  file=sys.stderr, flush=True)
        try:
            group = harness.time(operation, dtype, shape)
        except StagesError as error:  # after a fault in a kernel nothing runs any more
            return groups, f"{operation} {shape}: {error}"
        if group and group.entries:
            groups.append(group)
            keep(groups)
    if terminal:
        print("\r\033[K", end="", file=sys.stderr)
    return groups, ""


def stages_of(callables):
    return list(dict.fromkeys(each.group for each in callables if each.role == "ours"))


def legends_of(operations):
    """What explains the tables of these: a family's own words where they are of what it names."""
    legends = []
    for family, names in families_of(operations).items():
        module = family_module(family)
        own = set(names) <= set(getattr(module, "TIMED_OPERATIONS", ()))
        legends.append(getattr(module, "LEGEND", LEGEND) if own else LEGEND)
    return list(dict.fromkeys(legends))


def chosen_operations(library, ours, options):
    """Those to time, by name, and what is wrong with the choice, or nothing."""
    known = library.operations()
    computed = {name: known[name] for name in ours.operations()}
    for name in options.operation:
        if name not in computed:
            return {}, (f"none of these stages' variants computes {name}; they compute: "
                        f"{' '.join(computed)}")
    operations = timed_operations(computed, options)
    for shape in options.shape:
        refusals = [refusal_of(library, each, shape) for each in operations.values()]
        if refusals and all(refusals):
            return {}, f"--shape {shape}: {refusals[0]}"
    return operations, ""


def key_of(operation, dtype, shape):
    return operation, dtype, tuple(sorted((name, float(value)) for name, value in shape.items()))


def records_before(options, header):
    """What the file to be written holds already, of this GPU and commit."""
    path = pathlib.Path(options.out, f"{options.stages[0]}.peers.json")
    if not path.exists():
        return []
    document = json.loads(path.read_text())
    return document["records"] if all(document[key] == header[key] for key in ("gpu", "commit")) else []


def run(library, options, sources):
    """Times everything, prints the tables, writes the records. Returns the exit status."""
    ours = sources[0]
    operations, wrong = chosen_operations(library, ours, options)
    if wrong:
        print(f"peers: {wrong}", file=sys.stderr)
        return 2
    stages = stages_of([each for each in ours.callables if each.operation in operations])
    header = library.record_header()
    harness = Harness(library, sources, bool(options.shape))
    before = records_before(options, header) if options.resume else []
    done = {key_of(one["op"], one["dtype"], one["shape"]) for one in before}
    works = [(name, dtype, shape) for name, dtype, shape in
             works_of(library, operations, stages, options)
             if key_of(name, dtype, shape_of(shape.problem(operations[name], dtype))) not in done]

    def keep(groups):
        """The files of records, by stage."""
        for source in sources:
            header.update(source.versions())
        return {stage: write_records(options.out, stage, header, before + [
            one for group in groups if group.of_stage(stage)
            for one in records_of(group, stage, library.backend)]) for stage in stages}

    with Interruption() as interruption:
        groups, stopped = time_all(harness, works, interruption, keep)

    files = keep(groups)
    for stage in stages:
        mine = [group for group in groups if group.of_stage(stage)]
        dtypes = dict.fromkeys(group.dtype for group in mine)
        print(heading(f"{stage} and its peers", f"{header['gpu']}, {' '.join(dtypes)}"))
        for group in mine:
            print("\n".join(table_of(group, stage)) + "\n")
        computed = {each.operation for each in ours.callables if each.group == stage}
        print("\n".join(legends_of({name: operations[name] for name in operations
                                    if name in computed})))
        if len(mine) > 1:
            print("\n" + "\n".join(summary_of(mine, stage)))
        print(f"  records: {files[stage]}\n")
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
    torch_contenders.find_torch()  # first: the library then finds the cuDNN that PyTorch brings
    known = stages_of(library.callables())
    unknown = [stage for stage in options.stages if stage not in known]
    if unknown:
        print(f"peers: no stage is called {unknown[0]}; here are: {' '.join(known)}",
              file=sys.stderr)
        return 2
    ours = LibraryContenders(library, options.stages or known, options.variant)
    modules = [family_module(each.family) for each in library.operations().values()]
    others = [source for module in dict.fromkeys(filter(None, modules))
              for source in module.sources(options, library)]
    return run(library, options, [ours, *others])


if __name__ == "__main__":
    run_as_program("peers", main)
