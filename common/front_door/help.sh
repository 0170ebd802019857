# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The verbs, and what --help says of them.

readonly verbs="run test list header example fuzz plot compare xray ncu debug my try check demo report new record readme doctor lint"

usage() {
    cat <<'END'
usage: ./stages VERB [STAGE...] [flags]

  run      check every variant against the fp64 reference, then measure it
  test     run the tests: of everything, or of the stages named
  list     the stages and their variants
  header   print stages or front calls as one header
  example  run the smallest program that uses a stage
  fuzz     random shapes, types, inputs and addresses against the reference
  plot     draw what was measured, or what is recorded of a GPU
  compare  two folders of records, time by time: what got faster or slower
  xray     count what kernels touch: sectors, bank conflicts, races
  ncu      record a GPU's own counters, with Nsight Compute
  debug    stop in gdb inside one thread of a kernel
  my       the programs of your own, in my/, and what they last said
  try      check and count a launcher of your own, as softmax or the like
  check    exercises that check themselves: ./stages check shows the next one
  demo     a stage's lecture at a terminal, step by step
  report   one HTML page: the course, or a kernel of your own, with its counts
  new      write a stage of your own to begin with: ./stages new 09 name
  record   measure on a GPU what the stages' pages show of it
  readme   write the lessons' figures and pictures: what is recorded and counted
  doctor   what is here, what is missing, which device is used and why
  lint     check the layout and the usual mistakes in the sources

A STAGE is a number or the start of a name: 3, 03, online, 03_online_softmax;
several stand behind each other, or with commas: 01,03. In its place run, xray
and debug take a program of your own: my/name.cu, or a folder my/name
END
    flags
    echo
    echo "Start with: ./stages run 01 --quick     More on a verb: ./stages run --help"
}

flags() {
    cat <<'END'

Flags of every verb, anywhere among the arguments; -- ends them:
  --device cpu|cuda   default: cuda where nvcc and a GPU are there, else cpu
  --yes               install what is missing without asking
  --no-install        install nothing: list what is missing and exit 2
  --help              this text
What is missing is asked for where there is a terminal, also behind a pipe;
where there is none (a container, CI) it is named and installed.
In the environment: CXX and CUDACXX name compilers, STAGES_CMAKE_FLAGS has flags
for cmake, as "-DSTAGES_WARNINGS_AS_ERRORS=ON" (warnings stop the build).
Exit status: 0 good, 1 something is wrong, 2 usage or something missing,
77 no such device.
END
}

help_for() {
    case $1 in
        run) echo "usage: ./stages run [STAGE...] [flags]
       ./stages run my/name.cu|my/folder [flags] [-- its words]
Checks every variant of the stages (of all, where none is named) on every named
input against the fp64 reference and the stage before, then measures. One stage
alone builds fastest. At the end pictures of the records are drawn into a folder
\`pictures\` beside them (none without gnuplot).

  --lesson            the lesson's variants alone, without those beyond it, and
                      of one stage built alone: after an edit of its header
  --ask               predict, then run: a few questions about each stage before
                      it runs, guess and fact side by side after it
  --no-plot           no pictures
  --peers             then times the stages beside what one would use instead,
                      in turn: the kernels of NVIDIA/online-softmax, OneFlow
                      and FasterTransformer, rebuilt from their descriptions,
                      and, where installed, cuDNN, PyTorch (eager, compiled)
                      and Triton. Needs a GPU and python3; writes
                      NN_name.peers.json. Takes a few minutes; Ctrl-C keeps
                      what is done
  --operation NAME    with --peers: times this one instead, softmax_backward or
                      another that the stages compute; may be repeated
  --oneflow DIR, --fastertransformer DIR
                      with --peers: compiles and times the softmax kernels of a
                      checkout, too (FasterTransformer: version 1)

A program of your own is compiled and run: any .cu in my/ with a main(), or a
folder in my/ whose .cu, .cpp and .c files are one program, which then runs in
that folder. On the CPU device its faults, races and reads of what nobody has
written are said.

  --fast              look for nothing, and run many times as fast; every few
                      seconds say how far the grid is
  --include DIR       look for headers there, too; may be repeated
  --define NAME[=VALUE]
                      define a macro; may be repeated. A folder's Makefile is
                      asked for its files and flags; STAGES_MY_FLAGS has more
  --main FILE         of a folder: the one that has the main()
  --arch 80|90        compile device code as for sm_80 or, as without the flag,
                      sm_90a: what __CUDA_ARCH__ says; on a GPU, nvcc's -arch
All other words are the program's; behind -- whatever they are." ;;
        test) echo "usage: ./stages test [STAGE...] [flags] [flags of ctest]
Builds the tests, all or those of the stages named, and runs them with ctest.
Says first how long that will take. Flags that filter must leave a test: none is
an error." ;;
        list) echo "usage: ./stages list [STAGE...] [--all]
The stages in order; of those named, or with --all, their variants and the named
inputs. Builds nothing, unless a stage's stage.cu has been changed since the
last commit: then asks the program." ;;
        header) echo "usage: ./stages header NAME... > stages.hpp
Prints stages and front calls as one self-contained header that needs CUDA and
CUB only: ./stages header topk sample. Printed files go into one program and
into one file of it. USING.md says what there is. Installs and builds nothing." ;;
        example) echo "usage: ./stages example STAGE [flags] [arguments of the example]
Builds and runs the stage's example.cu, the smallest program with its header." ;;
        plot) echo "usage: ./stages plot [STAGE...] [flags]
Draws each stage's variants, peers, times and traffic, and all stages in one
picture, from the records in results/ or, where no GPU was timed, from what is
recorded. Beside each picture lie its numbers (.csv) and a
script (.gp): change it, then \`gnuplot NAME.gp\` in that folder draws it again.
Installs gnuplot, if it may." ;;
        compare) echo "usage: ./stages compare A B [flags]
Two folders of records, such as those of before and after a change. A difference
counts where the medians are more than 2 % apart and the intervals from the 10th
to the 90th percentile do not overlap; counts have to be the same. The peers'
files are left out. Exit status 0 also where something is slower." ;;
        fuzz) echo "usage: ./stages fuzz [STAGE...] [--cases N] [--seed S] [--variant V]
Random cases (variant, type, shape, named input, addresses, in place or not)
against the fp64 reference, with guards around the memory. Says how to run again
the first that fails: ./stages fuzz 03 --seed S --case N" ;;
        xray) echo "usage: ./stages xray [STAGE...] [flags]
Runs kernels on the CPU device (also where a GPU is) and counts what they touch:
requests, sectors, bank conflicts, races. All stages, where none is named.
Prints one screen: a row for each of several variants, or one variant's page, a
long one shortened. --variant NAME chooses one; --lines adds the lines of the
source, the busiest first; --all prints everything.

  --lesson            the lesson's variants alone; of one stage built alone

       ./stages xray my/name.cu|my/folder [--lines] [--all] [--json FILE]
                     [--picture DIR] [flags of run] [-- its words]
The same of the kernels that a program of your own launches, as written.

  --draw-tile FILE    an SVG picture of the first kernel's tensor copy: the box,
                      and where its chunks of 16 bytes lie in shared memory's
                      banks
  --draw-ring FILE    an SVG picture of block 0's stages, which bulk copies fill
                      and mbarriers count: who fills, multiplies and waits" ;;
        ncu) echo "usage: ./stages ncu [STAGE...] [flags]
Records what the GPU itself counts, to compare with xray: every variant, at even
and at odd shapes, in all types of 16 and 32 bits. Needs Nsight Compute." ;;
        debug) echo "usage: ./stages debug STAGE [--block B] [--thread T] [flags]
Runs a kernel on the CPU device (also where a GPU is) and stops in gdb at its
first line, in thread T of block B: numbers (x runs fastest) or x,y,z; 0 unless
told.
\`next\` keeps to that thread; a breakpoint stops any that comes there, so give it
a condition: break 57 if threadIdx.x == 5
Without a terminal gdb's commands come from stdin.

  --variant NAME      default: the stage's first
  --kernel NAME       or part of it; default: the variant's first
  --shape ROWSxCOLS   default: 256x1024
  --batch COMMAND     what gdb is to do before it leaves; may be repeated

       ./stages debug my/name.cu|my/folder [--kernel NAME] [--block B]
                      [--thread T] [--batch COMMAND] [flags of run]
                      [-- its words]
The same in a program of your own, at the first launch of such a kernel." ;;
        try) echo "usage: ./stages try my/kernel.cuh --as OPERATION [--launcher NAME] [flags]
       ./stages try --as
Takes the function launch() of a header in my/ for a stage of its own: checks
it on all named inputs, counts its accesses line by line and shows it beside the
stages; where there is a GPU it is timed there, too. --as alone lists the
operations. What launch() takes: the operands in their order, the sizes, the
stream. Of softmax:
  cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols,
                     cudaStream_t stream)
A launcher that refuses shapes declares what it takes in a comment above it:
  // takes: cols <= 1024, cols % 4 == 0, x % 16 == 0, y != x, float

  --launcher NAME     another function: online_softmax::block_per_row
  --fuzz CASES        also random cases; --seed S: others; --case N: one alone
  --picture DIR       draw sectors and banks, as xray does
  --all               every line that was counted; else the busiest, and where
                      something is wrong none
  --json FILE         the counts, as xray --json writes them
and the flags of run, such as --shape and --dtype. Its records are in results/,
of the CPU device as 99_my_kernel.partial.json. What is wrong leaves none." ;;
        check) echo "usage: ./stages check
       ./stages check EXERCISE [flags]
       ./stages check [EXERCISE|STAGE...] [--json [--present]] [flags]
       ./stages check QUESTION [--answer NUMBER]
       ./stages check BUG [--line NUMBER]
Exercises: a stage's kernel with its idea left open. \`check\` alone lists them
and names the next one. \`check 03.1\` hands the exercise out as my/03.1.cuh, then
compiles and runs it on the CPU device (also where a GPU is). The answer is a
compiler's message, the first wrong element, or a race; where results are right,
also what the kernel does more often than the solution: reads, sectors, bank
conflicts, barriers. Start with any of them. A question, such as 01.a, is about
counts; its answer is counted when you give one.

  --watch             answer again at every save; Ctrl-C ends it
  --hint              a hint: three for each exercise, each more direct
  --solution          the lines themselves, and where the stage has them
  --reset             the file as it was handed out; yours becomes 03.1.cuh.old,
                      and the exercise is open again
  --fast              the fast track: the first exercise of each stage
  --seed SEED         inputs of this seed; each run draws others and names it
  --json              one JSON document, for a class's CI. Checks what is
                      named, else everything, and the answers in my/answers.txt
                      (--answer and --line write it); hands out nothing
  --present           with --json: of the exercises those alone that are in my/

\`check 05.bug2\` hands out a stage's header with one wrong line as
my/05.bug2.cuh and says what is reported of it; look into it with try, xray or
debug. --line NUMBER names the line: right, near (the same function) or no. Of a
missing line the one before the gap and the one after it are right.
--hint (two), --solution and --reset as above.
Exit status: 0 where all that was checked is right, 1 where something is wrong
or open. What is right stays noted in my/progress.json." ;;
        demo) echo "usage: ./stages demo STAGE [--auto SECONDS] [--from STEP]
       ./stages demo STAGE --prepare | --steps
       ./stages demo STAGE --bugs
A stage's lecture at a terminal of 80 x 24 or more: lines of the source, those
marked that differ from the stage before; commands and what they print; recorded
times; pictures; questions whose answer comes with the next key.
Enter, n or an arrow goes on, b back, a number and Enter to that step (g and the
number while a question waits); r runs the command again; n or Ctrl-C stops it;
? lists the keys; q ends. e opens a copy of the stage's header, my/NN_demo.cuh,
in \$EDITOR at the line on the screen, then compiles it and checks the kernel on
the screen with \`try\`.

  --prepare           runs all that the lecture runs: nothing is compiled
                      or installed while it is given, and no network needed
  --auto SECONDS      without a keyboard: a step every so many seconds
  --from STEP         begin there
  --steps             list the steps and their pictures
  --bugs              the stage's planted bugs instead: what is reported, the
                      wrong line beside the right one, and what the checks say.
                      On a terminal the report and the lines around come first,
                      the answer after Enter. \`check 05.bug2\` has the same
                      bugs as cases to solve
NO_COLOR in the environment: no colours. LECTURES.md has plans for a lecture and
for a course." ;;
        report) echo "usage: ./stages report [STAGE...] [--out FILE]
       ./stages report my/name.cu [--out FILE] [its words]
       ./stages report my/kernel.cuh --as OPERATION [--out FILE] [flags of try]
Writes one HTML file that needs no network: each stage's idea, the lines that
change, what its kernels touch line by line, pictures, and times beside what one
would use instead. Counts are new, from the CPU device; times are recorded.
Of a kernel of your own: its source with the counts of each line, races, reads
of what nobody has written, and all that xray or try says.

  --out FILE          default: report.html, or my kernel's name, in results/
Exit status: 1 where something is wrong with a kernel; the page says what." ;;
        my) echo "usage: ./stages my
Lists the programs of your own, my/*.cu and in folders below, and what each last
said, and folders that were run as one program. ./stages run my/name.cu runs
one; common/course/my/README.md says more." ;;
        new) echo "usage: ./stages new NUMBER NAME
Writes a stage NUMBER_NAME, as in 09_my_idea, that builds and passes: a header
with a kernel to replace, its launcher, a test, an example and a README to fill
in. CONTRIBUTING.md says what a stage has to hold." ;;
        record) echo "usage: ./stages record [STAGE...] [--again] [--once] [--out DIR]
Measures on the GPU that is here all that the stages' pages show: their variants
(own.json), some over a grid of widths (widths.json), beside their peers
(peers.json; needs PyTorch) and the GPU's own counters (counters.json; needs
Nsight Compute), each written to NN_name/recorded/GPU when it is done. Says
first how long it takes and what is missing. It works in steps of at most eight
minutes and keeps what each gives in results/record: after an interruption the
same command goes on. What is recorded at this commit already is left as it is.

  --again             measure anew what is recorded at this commit
  --once              end after one step; exit status 75: there are more
  --out DIR           write to DIR/NN_name/recorded/GPU instead" ;;
        readme) echo "usage: ./stages readme [--check]
Writes the generated parts of the READMEs and their pictures anew: figures from
what is recorded and from the x-ray's counts, output from programs that it runs.
--check only names what is stale, and exits 1 where anything is." ;;
        doctor) echo "usage: ./stages doctor
What is on this machine, what is missing and the command that brings it, which
device is used and why. Installs and builds nothing. Exit status 0 where
\`./stages run\` can work, else 1." ;;
        lint) echo "usage: ./stages lint [--fix]
clang-format and shellcheck on the sources, clang-tidy on the CPU build; and
whether an editor with clangd reads the stages without errors.
--fix formats the sources in place." ;;
    esac
    flags
    flags_of_program "$1"
}

# A program knows its own flags best. Whichever was built is asked; before the first build none can be.
flags_of_program() {
    local verb=$1 folder program
    [[ $verb =~ ^(run|fuzz|xray|ncu|plot|compare)$ ]] || return 0
    echo
    for folder in "$root"/build/{cpu,cuda}; do
        for program in "$folder"/{plot,stages,stages_[0-9][0-9]_*,[0-9][0-9]_*}; do
            [[ -x $program && -f $program ]] || continue
            case ${program##*/}:$verb in
                plot:plot | plot:compare | stages*:run | stages*:fuzz | stages*:xray | stages*:ncu | [0-9]*:fuzz)
                    "$program" "$verb" --help
                    return
                    ;;
                [0-9]*:run)
                    "$program" --help
                    return
                    ;;
            esac
        done
    done
    echo "The flags of \`$verb\` itself are listed here once it has been built."
}
