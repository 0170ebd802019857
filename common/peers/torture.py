#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the stages' variants, and what one would use instead, to the fp64 reference on every named input of an
operation (ties, equal rows, NaN, infinities, skewed rows, ...), and says which results are wrong, and where.

    common/peers/torture.py --library build/cuda/libstages.so NN_name --operation softmax_topk \\
        --shape 7x1000,k=1 --shape 3x1000000,k=1000 --dtype float32 --dtype bfloat16

Nothing is timed. peers.py is the same for speed: its contenders, its checker and its allowance for peers."""

import argparse
import json
import pathlib
import sys
from dataclasses import asdict, dataclass

import torch_contenders
from contenders import LibraryContenders, Skipped, Tensors, family_module
from peers import WrongResult, judge, parse_shape, refusal_of, stages_of
from peers_report import in_one_line
from stages_library import DTYPES, NOT_SUPPORTED, Library, StagesError, run_as_program

RIGHT, WRONG, LEFT_OUT = "right", "wrong", "left out"


@dataclass
class Verdict:
    contender: str
    role: str
    input: str
    dtype: str
    shape: str
    verdict: str
    why: str = ""


def verdict_of(library, source, name, tensors):
    """(role, verdict, why) of a contender on these operands."""
    role = "peer"
    try:
        contender = source.make(name, tensors)
        role = contender.role
        if role == "part":
            return role, LEFT_OUT, "does a part of the work alone"
        judge(library, contender, tensors)
        contender.forget()
        return role, RIGHT, ""
    except WrongResult as error:
        return role, WRONG, str(error)
    except Skipped as skipped:
        return role, LEFT_OUT, str(skipped)
    except StagesError as error:
        if error.code != NOT_SUPPORTED:
            raise
        return role, LEFT_OUT, str(error)


def verdicts_of(library, operation, sources, works):
    """Yields a Verdict for each contender, input, type and shape."""
    for dtype, shape in works:
        problem = shape.problem(operation, dtype)
        for named_input in operation.inputs:
            tensors = Tensors(library, operation, problem, named_input)
            for source in sources:
                for name in source.names(operation.name):
                    role, verdict, why = verdict_of(library, source, name, tensors)
                    yield Verdict(name, role, named_input, dtype, str(shape), verdict, why)
                source.release()


def by_contender(verdicts):
    """Contender -> its verdicts."""
    grouped = {}
    for each in verdicts:
        grouped.setdefault(each.contender, []).append(each)
    return grouped


def table_of(verdicts):
    """Lines: who is right everywhere, who was not judged, and for all others what is wrong on which input."""
    lines, wrong = [], {}
    for contender, own in by_contender(verdicts).items():
        judged = [each for each in own if each.verdict != LEFT_OUT]
        if not judged:
            lines.append(f"not judged: {contender}: {own[0].why}")
        elif all(each.verdict == RIGHT for each in judged):
            lines.append(f"right in all {len(judged)} cases: {contender}")
        else:
            wrong[contender] = judged
    for contender, judged in wrong.items():
        lines.append(f"WRONG in {sum(each.verdict == WRONG for each in judged)} of {len(judged)} cases: {contender}")
        for name in dict.fromkeys(each.input for each in judged):
            own = [each for each in judged if each.input == name]
            bad = [each for each in own if each.verdict == WRONG]
            if bad:
                first = bad[0]
                lines.append(f"    {name}: {len(bad)} of {len(own)}; {first.shape} {first.dtype}: {first.why}")
    return lines


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog="torture.py", description=__doc__.splitlines()[0])
    parser.add_argument("stages", nargs="+", metavar="NN_name")
    parser.add_argument("--library", required=True, help="libstages.so, as the build made it")
    parser.add_argument("--operation", required=True, help="what the contenders compute")
    parser.add_argument("--shape", type=parse_shape, action="append", required=True,
                        help="ROWSxCOLS[,OPTION=VALUE]; may be repeated")
    parser.add_argument("--dtype", choices=list(DTYPES), action="append", default=[], help="default: float32")
    parser.add_argument("--out", help="a JSON file for the verdicts")
    for flag in ("oneflow", "fastertransformer"):
        parser.set_defaults(**{flag: None})
    return parser.parse_args(words)


def run(library, options, sources):
    operation = library.operations().get(options.operation)
    if operation is None:
        print(f"torture: no operation is called {options.operation}", file=sys.stderr)
        return 2
    refusals = [refusal for shape in options.shape if (refusal := refusal_of(library, operation, shape))]
    if refusals:
        print(f"torture: {refusals[0]}", file=sys.stderr)
        return 2
    works = [(dtype, shape) for dtype in options.dtype or ["float32"] for shape in options.shape]
    verdicts = list(verdicts_of(library, operation, sources, works))
    print("\n".join(table_of(verdicts)))
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(
            {**library.record_header(), "operation": operation.name, "verdicts": [asdict(each) for each in verdicts]},
            indent=1))
    ours_wrong = any(each.role == "ours" and each.verdict == WRONG for each in verdicts)
    return 1 if ours_wrong or not any(each.verdict != LEFT_OUT for each in verdicts) else 0


def main(words):
    options = parse_arguments(words)
    library = Library(options.library)
    torch_contenders.find_torch()  # first: the library then finds the cuDNN that PyTorch brings
    known = stages_of(library.callables())
    unknown = [stage for stage in options.stages if stage not in known]
    if unknown:
        print(f"torture: no stage is called {unknown[0]}; here are: {' '.join(known)}", file=sys.stderr)
        return 2
    ours = LibraryContenders(library, options.stages, "")
    modules = [family_module(each.family) for each in library.operations().values() if each.name == options.operation]
    others = [source for module in filter(None, modules) for source in module.sources(options, library)]
    return run(library, options, [ours, *others])


if __name__ == "__main__":
    run_as_program("torture", main)
