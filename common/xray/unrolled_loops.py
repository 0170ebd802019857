#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which loops over global memory nvcc unrolls, and how, for the x-ray's second count.

A loop `for (col = threadIdx.x; col < cols; col += kThreads)` becomes sections that follow each other:
one that makes a trip at a time, one that makes four, and so on. Lanes of a warp that make different
numbers of trips are in different sections, and what they load together as written they load apart.

    unrolled_loops.py record NVCC FOLDER    writes NN_name/expected/unrolled_loops.json of every stage
    unrolled_loops.py check NVCC FOLDER     whether that is what nvcc makes of the kernels today

FOLDER: the PTX of all stages, as common/testing/ptx_widths.sh NVCC FOLDER leaves it there. No GPU is needed.
`record` also makes machine code of it and reads that with nvdisasm, which comes with the CUDA toolkit: ptxas
unrolls once more some of what nvcc has unrolled. `check` needs nvcc alone, and looks at the PTX.
"""
import collections
import functools
import json
import math
import pathlib
import re
import subprocess
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++17", "-arch=compute_90a", "-lineinfo"]  # ptx_widths.sh's; then ptxas -arch=sm_90a

# Asynchronous copies to shared memory load, too.
KINDS = {"ld": "load", "cp": "load", "st": "store", "LDG": "load", "LDGSTS": "load", "STG": "store"}

# An access to global memory at a line: `trail` leads from the line to the kernel through the calls in between.
Access = collections.namedtuple("Access", "kind trail block")


class Function:
    """Instructions in their order, as far as they matter here: labels, branches, accesses."""

    def __init__(self):
        self.labels = {}     # name -> block
        self.branches = []   # (block, label)
        self.accesses = []
        self.block = 0

    def label(self, name):
        self.block += 1
        self.labels[name] = self.block

    def branch(self, name):
        self.branches.append((self.block, name))
        self.block += 1

    def loops(self):
        """The extents of loops: from a label to the last branch that leads back to it."""
        extents = {}
        for block, name in self.branches:
            head = self.labels.get(name)
            if head is not None and head <= block:
                extents[head] = max(block, extents.get(head, 0))
        return sorted(extents.items())

    def sections(self):
        """{(kind, trail): accesses in each section, in order}. A section is a loop, or, between loops, a block."""
        loops = self.loops()
        inner = {}
        for block in range(self.block + 1):
            around = [loop for loop in loops if loop[0] <= block <= loop[1]]
            inner[block] = max(around, key=lambda loop: (loop[0], -loop[1])) if around else None
        places = collections.defaultdict(list)
        for access in self.accesses:
            places[access.kind, access.trail].append(access.block)
        found = {}
        for key, blocks in places.items():
            within = {inner[block] for block in blocks}
            counts = collections.Counter()
            for block in blocks:
                loop = inner[block]
                # Around the loops that have been made of one there may be another, which none of them is.
                around = loop and any(other and other != loop and loop[0] <= other[0] and other[1] <= loop[1]
                                      for other in within)
                counts[(loop[0], 0) if loop and not around else (block, 1)] += 1
            if any(which == 0 for _, which in counts):
                found[key] = [counts[place] for place in sorted(counts)]
        return found


@functools.lru_cache(None)
def in_repository(file):
    try:
        return str((ROOT / file).resolve().relative_to(ROOT))
    except ValueError:
        return None


def trail_of(chain):
    """Of a chain of (file, line), innermost first, what lies in this repository."""
    return tuple((name, line) for name, line in ((in_repository(file), line) for file, line in chain) if name)


def read_ptx(text):
    files = {number: name for number, name in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', text, re.M)}
    functions, function, callers, chain = {}, None, {}, []
    for line in text.splitlines():
        line = line.strip()
        if entry := re.search(r"\.(entry|func) .*?([A-Za-z_$][\w$]*)\($", line):
            function = functions[entry[2]] = Function()
            callers = {}
        elif function is None:
            continue
        elif loc := re.match(r"\.loc\s+(\d+) (\d+) (\d+)(?:,.*inlined_at (\d+) (\d+) (\d+))?", line):
            place, caller = loc.group(1, 2, 3), loc.group(4, 5, 6)
            if loc[2] == "0":
                continue  # no line of its own
            callers[place] = caller if caller[0] else None
            chain, seen = [], set()
            while place and place not in seen:
                seen.add(place)
                chain.append((files[place[0]], int(place[1])))
                place = callers.get(place)
        elif label := re.match(r"(\$\w+):", line):
            function.label(label[1])
        elif branch := re.match(r"(?:@!?%p\d+\s+)?bra(?:\.uni)?\s+(\$\w+)", line):
            function.branch(branch[1])
        elif access := re.match(r"(?:@!?%p\d+\s+)?(ld|st|cp)\.(?:\w+\.)*global", line):
            function.accesses.append(Access(KINDS[access[1]], trail_of(chain), function.block))
    return functions


def read_sass(text):
    functions, function, chain, fresh = {}, None, [], True
    for line in text.splitlines():
        if section := re.match(r"\.text\.(\S+):", line):
            function = functions[section[1]] = Function()
            chain = []
        elif function is None:
            continue
        elif place := re.match(r'\s*//## File "([^"]+)", line (\d+)(?: inlined at "([^"]+)", line (\d+))?', line):
            if fresh:
                chain, fresh = [], False
            chain.append((place[1], int(place[2])))
            continue
        elif label := re.match(r"(\.L\w+):", line):
            function.label(label[1])
        elif branch := re.search(r"\bBRA(?:\.\w+)*\s.*`\((\.L\w+)\)", line):
            function.branch(branch[1])
        elif re.search(r"\b(EXIT|RET)\b", line):
            function.block += 1
        elif access := re.search(r"\b(LDG|LDGSTS|STG)\.", line):
            function.accesses.append(Access(KINDS[access[1]], trail_of(chain), function.block))
        fresh = True
    return functions




def unrolled(counts):
    """Of the accesses in each section: the trips that each makes at a time, and the accesses in a trip. None where
    these are no sections of one loop as nvcc makes them: the largest first, each a part of the one before; what is
    left over, a trip at a time, before them or behind. It may be a loop itself, or written out, trip by trip."""
    accesses = math.gcd(*counts)

    def falls(sections):
        return all(a > b and a % b == 0 for a, b in zip(sections, sections[1:]))

    for i in range(1, len(counts)):
        first, rest = counts[:i], counts[i:]
        is_remainder = first == [accesses] or sum(first) == rest[-1] - accesses
        if falls(rest) and rest[-1] > accesses and is_remainder:
            return [1, *(count // accesses for count in rest)], accesses
        if falls(first) and first[-1] > accesses and len(rest) * accesses in (accesses, first[-1] - accesses) \
                and set(rest) == {accesses}:
            return [*(count // accesses for count in first), 1], accesses
    if len(counts) > 1 and falls(counts) and counts[-1] == accesses:
        return [count // accesses for count in counts], accesses
    return None


def code_of(file, line):
    """A line as the x-ray knows it again when others move: its text, and which it is of those that read the same."""
    lines = [text.strip() for text in lines_of(file)]
    code = lines[line - 1]
    found = {"file": file, "code": code}
    if lines.count(code) > 1:
        found["which"] = lines[:line].count(code)
    return found


@functools.lru_cache(None)
def lines_of(file):
    return (ROOT / file).read_text().splitlines()


def demangled(names):
    """The instances: "naive_softmax::block_per_row_kernel<256>"."""
    said = subprocess.run(["c++filt"], input="\n".join(names), check=True, text=True, capture_output=True).stdout
    plain = {}
    for name, text in zip(names, said.splitlines()):
        depth, end = 0, len(text)
        for i in range(len(text) - 1, -1, -1):  # the parameters are the last thing in parentheses
            depth += {")": 1, "(": -1}.get(text[i], 0)
            if text[i] == "(" and depth == 0:
                end = i
                break
        plain[name] = re.sub(r"^void ", "", text[:end])
    return plain


def version_of(nvcc):
    said = subprocess.run([nvcc, "--version"], check=True, text=True, capture_output=True).stdout
    return re.search(r"V([\d.]+)", said).group(1)


def loops_in(folder, read, suffix):
    """{(kernel's mangled name, kind, trail): sections}, of all files there."""
    loops = {}
    for file in sorted(pathlib.Path(folder).glob("*" + suffix)):
        for name, function in read(file.read_text()).items():
            for (kind, trail), counts in function.sections().items():
                if trail:
                    loops[name, kind, trail] = counts
    return loops


def entries(ptx, sass):
    """What is recorded: a kernel's instances that agree stand together."""
    names = demangled(sorted({name for name, _, _ in ptx}))
    alike = collections.defaultdict(list)
    for (name, kind, trail), counts in ptx.items():
        compiled = sass.get((name, kind, trail), counts)
        if unrolled(counts) is None and unrolled(compiled) is None:
            continue
        sections, accesses = unrolled(compiled) or ([], 1)  # nothing is said of what is not clear
        lines = tuple(tuple(code_of(*line).items()) for line in trail)
        kernel = names[name].split("<")[0]
        instance = names[name][len(kernel):]
        alike[kernel, kind, lines, tuple(counts), tuple(sections), accesses].append(instance)
    found = []
    for (kernel, kind, lines, counts, sections, accesses), instances in sorted(alike.items()):
        found.append({"kernel": kernel, "access": kind, "lines": [dict(line) for line in lines], "ptx": list(counts),
                      "sections": list(sections), "accesses": accesses, "instances": sorted(instances)})
    return found


def disassemble(nvcc, folder):
    bin_folder = pathlib.Path(nvcc).resolve().parent
    nvdisasm = shutil.which("nvdisasm", path=str(bin_folder)) or shutil.which("nvdisasm")
    if nvdisasm is None:
        sys.exit("nvdisasm is neither beside nvcc nor on PATH: package cuda-nvdisasm of the CUDA toolkit, or pip's "
                 "nvidia-cuda-nvdisasm")
    for ptx in sorted(pathlib.Path(folder).glob("*.ptx")):
        cubin = ptx.with_suffix(".cubin")
        subprocess.run([bin_folder / "ptxas", "-arch=sm_90a", "--generate-line-info", ptx, "-o", cubin], check=True)
        with open(ptx.with_suffix(".sass"), "w") as sass:
            subprocess.run([nvdisasm, "-gi", "-c", cubin], check=True, stdout=sass)


def record(nvcc, folder):
    disassemble(nvcc, folder)
    write(nvcc, folder)


def expected_files():
    return sorted(ROOT.glob("[0-9][0-9]_*/expected/unrolled_loops.json"))


def write(nvcc, folder):
    """A loop stands with the stage in whose file its kernel is."""
    found = entries(loops_in(folder, read_ptx, ".ptx"), loops_in(folder, read_sass, ".sass"))
    head = json.dumps({"schema": 1, "nvcc": version_of(nvcc), "flags": FLAGS})
    by_stage = collections.defaultdict(list)
    for loop in found:
        by_stage[loop["lines"][-1]["file"].split("/")[0]].append(" " + json.dumps(loop))
    for file in expected_files():
        file.unlink()
    for stage, loops in by_stage.items():
        out = ROOT / stage / "expected/unrolled_loops.json"
        out.parent.mkdir(exist_ok=True)
        out.write_text(f'{head[:-1]}, "loops": [\n' + ",\n".join(loops) + "\n]}\n")
        print(f"{len(loops)} loops in {out}")


def as_seen(loops):
    """What can be seen in the PTX: {what and where: instances}. What is unrolled in the machine code alone cannot."""
    seen = collections.defaultdict(set)
    for loop in loops:
        if unrolled(loop["ptx"]):
            lines = " < ".join(line["code"] for line in loop["lines"])
            seen[f'{loop["kernel"]}: {loop["access"]}s of `{lines}`: {loop["ptx"]}'].update(loop["instances"])
    return seen


def check(nvcc, folder):
    recorded = [json.loads(file.read_text()) for file in expected_files()]
    versions = {each["nvcc"] for each in recorded}
    if versions != {version_of(nvcc)}:
        print(f"unrolled loops: not compared, recorded with nvcc {', '.join(sorted(versions))} and this is "
              f"{version_of(nvcc)}")
        return 0
    now = as_seen(entries(loops_in(folder, read_ptx, ".ptx"), {}))
    then = as_seen([loop for each in recorded for loop in each["loops"]])
    different = [text for text in sorted({*now, *then}) if now.get(text) != then.get(text)]
    for text in different[:10]:
        print(f"WRONG: {text}: recorded of {len(then.get(text, ()))} instance(s), found in {len(now.get(text, ()))}")
    if different:
        print(f"{len(different)} differ; `{pathlib.Path(__file__).name} record` writes them anew")
    else:
        print(f"{len(now)} unrolled loops are as recorded")
    return int(bool(different))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("record", "check"):
        sys.exit(__doc__)
    sys.exit({"record": record, "check": check}[sys.argv[1]](*sys.argv[2:]))
