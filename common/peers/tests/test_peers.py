# SPDX-License-Identifier: MIT
"""peers.py with the library built for the CPU device. Kernels run and are checked there; only the
clock, which needs a GPU, is replaced."""

import contextlib
import inspect
import io
import itertools
import json
import os
import signal
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import contenders  # noqa: E402
import peers  # noqa: E402
import peers_report  # noqa: E402
import timeline  # noqa: E402
import torture  # noqa: E402
from contenders import Shape  # noqa: E402
from stages_library import Library, Problem, StagesError, Timing, WorkFailed  # noqa: E402

LIBRARY = os.environ["STAGES_LIBRARY"]
ROOT = Path(__file__).resolve().parents[3]
OURS = [each for each in Library(LIBRARY).callables() if each.role == "ours"]
attention, encoder, gemm, heads, softmax, tokens, topk, transpose = map(contenders.family_module, (
    "attention", "encoder", "gemm", "heads", "softmax", "tokens", "topk", "transpose"))


def stage_with(name):
    """The first stage with a variant or an operation of that name."""
    return next(each.group for each in OURS if name in (each.variant, each.operation))


# A stage with one variant, which computes softmax of floats.
PLAIN = min((each.group for each in OURS if each.operation == "softmax"),
            key=[each.group for each in OURS].count)
PLAIN_CALL = next(each.name for each in OURS if each.group == PLAIN)
OF_LOGARITHMS, OF_MASKS, OF_LISTS = map(stage_with, ("log_sum_exp", "scale_mask_softmax",
                                                     "softmax_topk"))
OF_PRODUCTS, OF_ANY_AXIS = stage_with("batched_gemm"), stage_with("softmax_any_axis")


class TimelessLibrary(Library):
    """Runs each contender once: the first takes 10 us, the next 20, and so on."""

    def time(self, works, what, problem, operands):
        for index, work in enumerate(works):
            try:
                work(None)
            except RuntimeError as error:
                raise WorkFailed(index) from error
        timings = [Timing(10.0 * i, 9.0 * i, 9.5 * i, 11.0 * i, 7) for i in
                   range(1, len(works) + 1)]
        return timings, Timing(5.0, 5.0, 5.0, 5.0), Timing(2.0, 2.0, 2.0, 2.0)

    def time_in_blocks(self, works):
        return [Timing(100.0 * i, 90.0 * i, 95.0 * i, 110.0 * i, 7) for i in
                range(1, len(works) + 1)]


class WrongPeer(contenders.Source):
    """Leaves y as it is."""

    def names(self, operation):
        return ("wrong_peer",) if operation == "softmax" else ()

    def make(self, name, tensors):
        return contenders.Contender(name, "peer", "", "softmax", lambda stream: None)


class PeerThatFailsWhenTimed(contenders.Source):
    """Right when it is looked at first, later not to be had."""

    def names(self, operation):
        return ("failing_peer",) if operation == "softmax" else ()

    def make(self, name, tensors):
        def produce():
            tensors.library.call(PLAIN_CALL, tensors.problem,
                                 tensors.pointers())

        def run(_):
            raise RuntimeError("recompiled")
        return contenders.Contender(name, "peer", "", "softmax", run, produce=produce)


class Run(unittest.TestCase):
    def run_peers(self, *words, more=()):
        """Status, what was printed, the records by stage."""
        library = TimelessLibrary(LIBRARY)
        with tempfile.TemporaryDirectory() as folder:
            options = peers.parse_arguments(["--library", LIBRARY, "--out", folder, *words])
            ours = contenders.LibraryContenders(
                library, options.stages or peers.stages_of(library.callables()), options.variant)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                status = peers.run(library, options, [ours, *more])
            self.assertFalse(list(Path(folder).glob("*.part")))
            files = {path.name: json.loads(path.read_text()) for path in Path(folder).iterdir()}
        return status, printed.getvalue(), files

    def test_records_of_a_stage(self):
        status, printed, files = self.run_peers(OF_LOGARITHMS, "--shape", "3x70")
        self.assertEqual(status, 0)
        self.assertEqual(list(files), [OF_LOGARITHMS + ".peers.json"])
        document = files[OF_LOGARITHMS + ".peers.json"]
        for field in ("schema", "gpu", "driver", "cuda", "nvcc", "commit", "date"):
            self.assertIn(field, document)
        self.assertEqual(document["schema"], 1)
        records = document["records"]
        self.assertEqual([(r["op"], r["variant"], r["role"]) for r in records], [
            ("softmax", "block_per_row", "ours"), ("softmax", "batched", "ours"),
            ("softmax", "split_row", "ours"),
            ("softmax", "nvidia_online_softmax/naive", "peer"),
            ("softmax", "nvidia_online_softmax/safe", "peer"),
            ("softmax", "nvidia_online_softmax/online", "peer"),
            ("softmax", "oneflow_warp_softmax/softmax", "peer"), ("softmax", "copy", "roof"),
            ("log_softmax", "log_softmax", "ours"),
            ("log_softmax", "oneflow_warp_softmax/log_softmax", "peer"),
            ("log_softmax", "copy", "roof"),
            ("log_sum_exp", "log_sum_exp", "ours"), ("log_sum_exp", "read", "roof")])
        self.assertEqual([r["variant"] for r in records if r.get("further")],
                         ["batched", "split_row", "log_softmax", "log_sum_exp"])
        first = records[0]
        self.assertEqual(first["bytes"], 2 * 4 * 3 * 70)
        self.assertEqual(records[-2]["bytes"], 4 * (3 * 70 + 3))
        self.assertEqual((first["us_median"], first["us_empty"]), (10.0, 2.0))
        self.assertAlmostEqual(first["gbps"], first["bytes"] / 10 / 1e3)
        self.assertAlmostEqual(first["roof_gbps"], first["bytes"] / 5 / 1e3)
        self.assertEqual((first["baseline"], first["speedup"]),
                         ("nvidia_online_softmax/naive", 4.0))
        # As in the records of `run`: a roof that is no copy is named.
        self.assertNotIn("roof", first)
        self.assertNotIn("roof_bytes", first)
        self.assertEqual([r.get("roof") for r in records[-2:]], ["read", "read"])
        self.assertLess(0, first["max_rel_err"])
        self.assertLess(first["max_rel_err"], 1e-5)
        self.assertIn("left out: cudnn/accurate (softmax 3 x 70): needs a GPU", printed)
        self.assertIn("left out: fastertransformer_softmax/v1 (softmax 3 x 70): wants square "
                      "matrices", printed)
        self.assertLessEqual(max(map(len, printed.splitlines()[:12])), 80)

    def test_a_run_goes_on_where_it_was_interrupted(self):
        with tempfile.TemporaryDirectory() as folder:
            words = (PLAIN, "--operation", "softmax", "--out", folder, "--resume")
            file = Path(folder, PLAIN + ".peers.json")
            self.run_peers(*words, "--shape", "2x33")
            before = json.loads(file.read_text())
            before["records"][0]["us_median"] = 77.0
            file.write_text(json.dumps(before))
            self.run_peers(*words, "--shape", "2x33", "--shape", "2x35")
            records = json.loads(file.read_text())["records"]
            self.assertEqual(records[:len(before["records"])], before["records"])
            self.assertEqual({r["shape"]["cols"] for r in records[len(before["records"]):]}, {35})
            # Of another commit nothing is kept.
            file.write_text(json.dumps({**before, "commit": "another"}))
            self.run_peers(*words, "--shape", "2x33")
            self.assertEqual(json.loads(file.read_text())["records"][0]["us_median"], 10.0)

    def test_an_invalid_kernel_is_timed_and_nobody_compares_with_it(self):
        status, printed, files = self.run_peers(OF_MASKS, "--shape", "64x16", "--variant",
                                                "softmax")
        self.assertEqual(status, 0)
        records = {r["variant"]: r for r in files[OF_MASKS + ".peers.json"]["records"]}
        invalid = records["invalid_fastertransformer/input_unused"]
        self.assertEqual(invalid["role"], "invalid")
        self.assertLess(0.5, invalid["max_rel_err"])  # every result is 1 / 16
        for name in ("fastertransformer_softmax/v1", "fastertransformer_softmax/v5",
                     "oneflow_warp_softmax/softmax"):
            self.assertEqual(records[name]["role"], "peer")
            self.assertLess(records[name]["max_rel_err"], 3e-6)
        self.assertRegex(printed, "invalid_fastertransformer/input_unused .* WRONG\n")
        self.assertEqual(records["softmax"]["baseline"], "nvidia_online_softmax/naive")

        # For one column 1 / columns is right, and it is not what it is kept for.
        _, printed, files = self.run_peers(OF_MASKS, "--shape", "4x1")
        self.assertIn("left out: invalid_fastertransformer/input_unused", printed)
        self.assertNotIn("invalid_fastertransformer", json.dumps(files))

    def test_what_is_invalid_must_be_wrong(self):
        class RightAfterAll(contenders.Source):
            def names(self, operation):
                return ("right_after_all",)

            def make(self, name, tensors):
                return contenders.Contender(
                    name, "invalid", "", "softmax",
                    lambda stream: tensors.library.call(PLAIN_CALL,
                                                        tensors.problem, tensors.pointers()))
        _, printed, files = self.run_peers(PLAIN, "--shape", "2x33",
                                           more=[RightAfterAll()])
        self.assertIn("right_after_all, softmax, 2 x 33: known to be wrong, and here it is right",
                      printed)
        self.assertNotIn("right_after_all", json.dumps(files))

    def test_a_part_of_the_work_is_timed_held_to_nothing_and_nobody_compares_with_it(self):
        class Half(contenders.Source):
            def names(self, operation):
                return ("half",)

            def make(self, name, tensors):
                return contenders.Contender(name, "part", "", "softmax", lambda stream: None,
                                            part="half")
        status, printed, files = self.run_peers(PLAIN, "--shape", "2x33",
                                                more=[Half()])
        self.assertEqual(status, 0)
        records = {r["variant"]: r for r in files[PLAIN + ".peers.json"]["records"]}
        half = records["half"]
        self.assertEqual((half["role"], half["part"]), ("part", "half"))
        self.assertNotIn("max_rel_err", half)
        self.assertNotIn("part", records["block_per_row"])
        self.assertNotEqual(records["block_per_row"]["baseline"], "half")
        self.assertRegex(printed, "half .* half\n")

    def test_a_sum_of_rows_moves_what_it_reads(self):
        class Sums(contenders.Source):
            def names(self, operation):
                return ("row_sum/none",) if operation == "softmax_topk" else ()

            def make(self, name, tensors):
                return contenders.Contender(name, "part", "", "softmax_topk", lambda stream: None,
                                            part=peers_report.READS_ALONE)
        _, _, files = self.run_peers(OF_LISTS, "--shape", "2x33,k=3", more=[Sums()])
        records = {r["variant"]: r for r in files[OF_LISTS + ".peers.json"]["records"]}
        read, sums = records["read"], records["row_sum/none"]
        self.assertEqual((read["bytes"], sums["bytes"]), (4 * 2 * 33 + 8 * 2 * 3, 4 * 2 * 33))
        self.assertAlmostEqual(sums["gbps"], sums["bytes"] / sums["us_median"] / 1e3)
        self.assertAlmostEqual(sums["roof_gbps"] / sums["bytes"], read["gbps"] / read["bytes"])

    def test_stages_and_variants_are_chosen(self):
        _, _, files = self.run_peers("--shape", "2x33", "--variant", "block_per_row")
        self.assertEqual([name[:2] for name in sorted(files)], ["01", "02", "03", "06"])
        for document in files.values():
            ours = [r["variant"] for r in document["records"] if r["role"] == "ours"]
            self.assertEqual(ours, ["block_per_row"])

    def test_a_wrong_peer_gets_no_time(self):
        status, printed, files = self.run_peers(PLAIN, "--shape", "2x33",
                                                more=[WrongPeer()])
        self.assertEqual(status, 0)  # ours are right
        self.assertIn("WRONG, and not timed: wrong_peer, softmax, 2 x 33: 66 of 66", printed)
        self.assertNotIn("wrong_peer", json.dumps(files))

    def test_a_peer_that_fails_when_timed_is_left_out_and_the_others_are_timed(self):
        _, printed, files = self.run_peers(PLAIN, "--shape", "2x33",
                                           more=[PeerThatFailsWhenTimed()])
        self.assertIn("left out: failing_peer (softmax 2 x 33): RuntimeError: recompiled", printed)
        records = files[PLAIN + ".peers.json"]["records"]
        self.assertEqual(len(records), 1 + 3 + 1 + 1)

    def test_an_interrupted_run_keeps_what_was_timed(self):
        class PressesCtrlC(contenders.Source):
            def names(self, operation):
                signal.raise_signal(signal.SIGTERM)
                return ()
        status, printed, files = self.run_peers(PLAIN, "--shape", "2x33", "--shape",
                                                "2x34", more=[PressesCtrlC()])
        self.assertEqual(status, 1)
        self.assertIn("The rest was not timed: interrupted", printed)
        records = files[PLAIN + ".peers.json"]["records"]
        self.assertEqual({record["cols"] for record in records}, {33})

    def test_a_run_that_is_ended_at_once_keeps_the_shapes_before(self):
        class EndsAtTheSecondShape(contenders.Source):
            shapes = 0

            def names(self, operation):
                self.shapes += 1
                if self.shapes == 2:
                    raise SystemExit
                return ()
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(SystemExit):
                self.run_peers(PLAIN, "--operation", "softmax", "--shape", "2x33", "--shape",
                               "2x34", "--out", folder, more=[EndsAtTheSecondShape()])
            records = json.loads(Path(folder, PLAIN + ".peers.json").read_text())["records"]
        self.assertEqual({record["cols"] for record in records}, {33})

    def test_without_torch_its_peers_are_left_out_by_name(self):
        torch = softmax.SoftmaxInTorch()
        if not torch.obstacles:
            self.skipTest("PyTorch and a GPU are here")
        _, printed, _ = self.run_peers(PLAIN, "--shape", "2x33", more=[torch])
        for name in ("torch_eager", "torch_compile", "triton_row"):
            self.assertRegex(printed, f"left out: {name} .*PyTorch")

    def test_a_problem_with_an_option(self):
        torch = topk.TopkInTorch()
        if not torch.obstacles:
            self.skipTest("PyTorch and a GPU are here")
        operations = itertools.chain(*(("--operation", name) for name in torch.functions()))
        _, printed, files = self.run_peers(OF_LISTS, "--shape", "2x33,k=3", *operations,
                                           more=[torch])
        for name in ("torch_eager", "torch_compile", "torch_best_first", "torch_topk", "quack",
                     "row_sum/torch"):
            self.assertRegex(printed, f"left out: {name} .*PyTorch")
        for name in ("cub_segmented_sort/radix", "cub_batched_topk/unsorted", "cub_topk/unsorted",
                     "row_sum/cub", "row_sum/cub_fixed_size"):
            self.assertRegex(printed, rf"left out: {name} \(.*\): needs a GPU")
        records = files[OF_LISTS + ".peers.json"]["records"]
        self.assertEqual({str(record["shape"]["k"]) for record in records}, {"3"})  # not 3.0
        shown_as = {record["op"]: record.get("shown_as") for record in records}
        self.assertEqual(shown_as, {"softmax_topk": None, "topk_of_softmax": "softmax_topk",
                                    "softmax_topk_lse": "softmax_topk"})
        self.assertEqual({record.get("roof") for record in records}, {"read"})
        # Which reads x, and writes none of the results.
        self.assertEqual({record["roof_bytes"] for record in records}, {4 * 2 * 33})

    def test_products(self):
        """Whose peers all need a GPU: cuBLAS, too."""
        torch = gemm.GemmInTorch()
        if not torch.obstacles:
            self.skipTest("PyTorch and a GPU are here")
        status, printed, files = self.run_peers(
            OF_PRODUCTS, "--shape", "2x16x24x8,transpose_b", "--shape", "1x8x8x8,alpha=2",
            "--operation", "batched_gemm", more=[torch])
        self.assertEqual(status, 0)
        where = r"2 shapes, batched_gemm 2 x 16 x 24 x 8 transpose_b=1 float16 first"
        for name in ("cublas/default and 41 like it", "cublas_lt/candidate_0 and 7 like it"):
            self.assertRegex(printed, rf"left out: {name} \(.*\): needs a GPU")
        for name in ("torch_matmul", "triton_gemm"):
            self.assertRegex(printed, rf"left out: {name} \(.*\): PyTorch")
        self.assertRegex(printed, where.replace("2 shapes", "4 shapes"))
        records = files[OF_PRODUCTS + ".peers.json"]["records"]
        self.assertEqual({(r["dtype"], r["variant"]) for r in records if r["role"] == "ours"} & {
            ("float16", "tensor_core"), ("float32", "register_tiled"), ("float32", "tensor_core")},
            {("float16", "tensor_core"), ("float32", "register_tiled")})
        self.assertEqual({r["roof"] for r in records}, {"join"})  # without cuBLASLt
        self.assertIn("tflops", records[0])

    def test_all_values_of_cublas_are_timed_at_few_shapes(self):
        def why_not(name, sizes, dtype="float16", given=False, **options):
            shape = Shape(sizes, tuple((key, float(value)) for key, value in options.items()))
            return gemm.why_not_timed(name, shape, dtype, given)
        large = (16, 1024, 1024, 1024)
        self.assertIn("--shape", why_not("cublas/algo7", large))
        self.assertEqual(why_not("cublas/algo7", large, given=True), "")
        for size in (512, 2048, 4096):
            self.assertEqual(why_not("cublas/algo7", (16, size, size, size)), "")
        self.assertIn("float16", why_not("cublas/algo7", (16, 512, 512, 512), "float32"))
        self.assertEqual(why_not("cublas/algo7", (384, 128, 128, 64), transpose_b=1), "")
        for name in ("cublas/default", "cublas/default_tensor_op", "cublas_lt/candidate_7",
                     "torch_matmul"):
            self.assertEqual(why_not(name, large), "")

    def test_products_are_timed_over_a_line_of_sizes(self):
        library = Library(LIBRARY)
        operations = {name: each for name, each in library.operations().items()
                      if each.family == "gemm"}

        def works(*words):
            options = peers.parse_arguments(["--library", LIBRARY, *words])
            return peers.works_of(library, operations, [OF_PRODUCTS], options)
        usual = works()
        self.assertEqual(len(usual), len(set(usual)))
        for size in (128, 256, 512, 1024, 2048, 4096):
            self.assertIn(("batched_gemm", "float16", Shape((16, size, size, size))), usual)
        self.assertIn(("batched_gemm", "float32", Shape((1, 4096, 4096, 4096))), usual)
        for name, dtype, shape in usual:
            self.assertEqual(peers.refusal_of(library, operations[name], shape), "")
        self.assertTrue(all(dtype == "bfloat16" for _, dtype, _ in works("--dtype", "bfloat16")))
        self.assertLess(len(works("--quick")), len(usual) / 2)

    def test_ours_and_each_librarys_best_are_timed_in_blocks_too(self):
        timed = [("mma", "ours", 20), ("naive", "ours", 1000), ("lib/default", "peer", 12),
                 ("lib/a", "peer", 11), ("lib/b", "peer", 10), ("other/c", "peer", 50),
                 ("torch", "peer", 9)]
        everybody = [contenders.Contender(name, role, "", "batched_gemm", None)
                     for name, role, _ in timed]
        timings = [Timing(us, us, us, us) for _, _, us in timed]

        def chosen(count):
            return [timed[index][0] for index in gemm.chosen_for_blocks(
                everybody[:count], timings[:count])]
        self.assertEqual(chosen(7), ["mma", "lib/default", "lib/b", "other/c"])
        self.assertEqual(chosen(2), [])  # nobody to compare with

        both = types.SimpleNamespace(chosen_for_blocks=lambda _, timings: [0, len(timings) - 1])
        with mock.patch.object(peers, "family_module", return_value=both):
            _, printed, files = self.run_peers(PLAIN, "--shape", "2x33",
                                               "--operation", "softmax")
        records = files[PLAIN + ".peers.json"]["records"]
        self.assertEqual([r.get("us_in_blocks") for r in records if r["role"] != "roof"],
                         [100.0, None, None, None, 200.0])
        self.assertIn("in blocks of a fifth of a second", printed)

    def test_a_checkout_that_is_none(self):
        checkouts = [softmax.OneFlow("/nowhere"),
                     softmax.FasterTransformer(None)]
        status, printed, _ = self.run_peers(PLAIN, "--shape", "2x33", more=checkouts)
        self.assertEqual(status, 0)
        self.assertIn("left out: oneflow (softmax 2 x 33): "
                      "there is no oneflow/core/cuda/softmax.cuh in /nowhere", printed)
        self.assertNotIn("left out: fastertransformer ", printed)


    def test_a_type_that_ours_do_not_take_is_left_out_by_name(self):
        status, printed, files = self.run_peers(PLAIN, "--shape", "2x33", "--dtype",
                                                "float32", "--dtype", "bfloat16")
        self.assertEqual(status, 0)
        self.assertIn(f"left out: {PLAIN_CALL} (softmax 2 x 33 bfloat16): takes float32 only", printed)
        records = files[PLAIN + ".peers.json"]["records"]
        self.assertEqual({record["dtype"] for record in records}, {"float32"})

    def test_tensors_have_the_size_of_their_type(self):
        library = TimelessLibrary(LIBRARY)
        operation = library.operations()["log_sum_exp"]
        for dtype, size in (("float32", 4), ("float16", 2), ("bfloat16", 2), ("float64", 8)):
            problem = Problem(dtype, {"rows": 3, "cols": 5})
            tensors = contenders.Tensors(library, operation, problem)
            self.assertEqual({name: memory.size for name, memory in tensors.memory.items()},
                             {"x": 15 * size, "y": 3 * size})
            self.assertEqual(tensors.cost.bytes, 18 * size)
            tensors.poison()
            report = library.check("log_sum_exp", problem, tensors.pointers())
            self.assertEqual((report.checked, report.mismatches), (3, 3))

    def test_operations_with_more_inputs_are_timed_where_they_are_asked_for(self):
        status, printed, files = self.run_peers(OF_MASKS, "--shape", "6x70", "--operation",
                                                "softmax_backward", "--operation",
                                                "scale_mask_softmax")
        self.assertEqual(status, 0)
        records = files[OF_MASKS + ".peers.json"]["records"]
        self.assertEqual([(r["op"], r["variant"], r["role"]) for r in records], [
            ("scale_mask_softmax", "scale_mask_softmax", "ours"),
            ("scale_mask_softmax", "join", "roof"),
            ("softmax_backward", "softmax_backward", "ours"),
            ("softmax_backward", "join", "roof")])
        self.assertEqual([r["bytes"] for r in records[::2]], [9 * 6 * 70, 12 * 6 * 70])
        self.assertNotIn("tflops", records[0])  # nobody counts its operations
        self.assertRegex(printed, "softmax_backward, 6 x 70 .*GB/s  of join")
        self.assertIn("bytes that nobody can do without", printed)

    def test_a_variant_that_is_named_is_timed_whatever_it_computes(self):
        _, _, files = self.run_peers(OF_MASKS, "--shape", "6x70", "--variant",
                                     "causal_softmax")
        records = files[OF_MASKS + ".peers.json"]["records"]
        self.assertEqual([r["variant"] for r in records], ["causal_softmax", "join"])
        self.assertIs(records[0]["swept"], True)  # tables leave such a width out

    def test_sizes_of_another_form_are_timed_by_those_who_take_them(self):
        status, printed, files = self.run_peers(OF_ANY_AXIS, "--shape", "2x33x5",
                                                "--operation", "softmax")
        self.assertEqual(status, 0)
        records = files[OF_ANY_AXIS + ".peers.json"]["records"]
        self.assertEqual([r["variant"] for r in records], ["softmax_any_axis", "copy"])
        self.assertEqual(records[0]["shape"], {"outer": 2, "dim": 33, "inner": 5})
        self.assertEqual((records[0]["rows"], records[0]["cols"]), (10, 33))
        self.assertIn("softmax, 2 x 33 x 5", printed)
        self.assertRegex(printed, r"left out: oneflow_warp_softmax/softmax \(softmax 2 x 33 x 5\): "
                                  "works along the last axis only")

    def test_choices_that_there_are_not_are_usage_errors(self):
        for words, said in ((("--operation", "gemm"), "computes gemm; they compute: softmax"),
                            (("--operation", "log_softmax"), "computes log_softmax"),
                            (("--shape", "4x5x6x7"), "--shape 4 x 5 x 6 x 7: ROWSxCOLS is wanted"),
                            (("--shape", "4x5,k=3"), "softmax has no option 'k'")):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors):
                status, printed, files = self.run_peers(PLAIN, *words)
            self.assertEqual((status, printed, files), (2, "", {}))
            self.assertIn(said, errors.getvalue())


class WhatIsPrinted(unittest.TestCase):
    def test_of_a_library_with_many_the_fastest_and_the_slowest_are_shown(self):
        def entry(name, us):
            return peers_report.Entry(contenders.Contender(name, "peer", "", "", None),
                                      Timing(us, us, us, us), 0.0)
        peers_of_one = [entry("a/3", 30.0), entry("a/1", 10.0), entry("b/1", 15.0),
                        entry("a/2", 20.0), entry("c", 5.0), entry("a/4", 40.0), entry("b/2", 50.0)]
        shown = [(name, each.timing.us_median)
                 for name, each in peers_report.without_repetition(peers_of_one)]
        self.assertEqual(shown, [("c", 5.0), ("a/1, best of 4", 10.0), ("b/1", 15.0),
                                 ("a/4, the last", 40.0), ("b/2", 50.0)])

    def test_names_of_any_length_stay_apart_within_80_columns(self):
        def group(name, ours, peer):
            def entry(named, us):
                return types.SimpleNamespace(contender=types.SimpleNamespace(name=named),
                                             timing=Timing(us, us, us, us))
            return types.SimpleNamespace(name=name, shape="32 x 384 x 12 x 64", dtype="float16",
                                         best_peer=lambda: entry(peer, 3.0),
                                         of_stage=lambda stage: [entry(ours, 2.0), entry("slower", 4.0)])
        short = group("softmax", "fast", "torch")
        self.assertEqual(peers_report.summary_of([short], ""), [
            "                                      our best  best peer   ours",
            "  softmax 32 x 384 x 12 x 64 float16  fast      torch       1.50"])
        long = group("remove_padding", "remove_padding_by_lengths", "fastertransformer_heads/to_heads")
        lines = peers_report.summary_of([short, long], "")
        self.assertEqual([line.split() for line in lines[-2:]], [
            "remove_padding 32 x 384 x 12 x 64 float16".split(),
            ["remove_padding_by_lengths", "fastertransformer_heads/to_heads", "1.50"]])
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_many_of_a_library_that_share_a_reason_have_one_line(self):
        reasons = {"needs a GPU": ["here", "there", "here"]}
        lines = peers_report.left_out_lines(
            {**{f"a/{i}": reasons for i in range(4)}, "b/1": reasons, "b/2": reasons,
             "a/4": {"needs more": ["here"]}})
        self.assertEqual(lines, [
            "  left out: a/0 and 3 like it (2 shapes, here first): needs a GPU",
            "  left out: b/1 (2 shapes, here first): needs a GPU",
            "  left out: b/2 (2 shapes, here first): needs a GPU",
            "  left out: a/4 (here): needs more"])


class Families(unittest.TestCase):
    def test_a_family_without_a_module_has_the_librarys_contenders(self):
        self.assertIsNone(contenders.family_module("no_such_family"))
        self.assertIs(contenders.family_module("softmax"), softmax)

    def test_what_a_family_names_is_the_librarys(self):
        known = Library(LIBRARY).operations()
        for name in softmax.TIMED_OPERATIONS:
            self.assertEqual(known[name].family, "softmax")
        functions = softmax.SoftmaxInTorch().functions()
        self.assertEqual(set(functions),
                         {name for name, each in known.items() if each.family == "softmax"})

    def test_all_that_an_encoder_consists_of_has_a_way_in_torch(self):
        known = Library(LIBRARY).operations()
        for family, source in (("heads", heads.HeadsInTorch()),
                               ("transpose", transpose.TransposeInTorch())):
            self.assertEqual(set(source.functions()),
                             {name for name, each in known.items() if each.family == family})
        self.assertEqual(set(tokens.TokensInTorch().functions()),
                         set(tokens.TIMED_OPERATIONS))
        for name in tokens.TIMED_OPERATIONS:
            self.assertEqual(known[name].family, "tokens")
        self.assertIn("torch_math", attention.AttentionInTorch().names("attention"))

    def test_what_is_timed_of_an_encoders_parts(self):
        def works(module, *words):
            options = peers.parse_arguments(["--library", LIBRARY, *words])
            return module.works_of(module.TIMED_OPERATIONS, [], options)

        known = Library(LIBRARY).operations()
        for module in (attention, tokens):
            for name, dtype, shape in works(module):
                self.assertIn(len(shape.sizes), (2, 5))
                self.assertEqual(peers.refusal_of(Library(LIBRARY), known[name], shape), "")
        timed = works(attention)
        lengths = {shape.sizes[2] for _, dtype, shape in timed if dtype == "float16"}
        self.assertEqual(lengths, {1, 128, 256, 384, 512, 1024, 2048, 4096, 8192, 16384})
        self.assertEqual(len([dtype for _, dtype, _ in timed if dtype == "bfloat16"]), 3)
        self.assertEqual(len(works(attention, "--quick", "--dtype", "float32")), 3)
        self.assertIn(("add_bias_activation", "float16", Shape((12288, 768), (("tanh", 1.0),))),
                      works(tokens))
        self.assertEqual(len(works(tokens, "--quick")), 6)

    def test_families_and_stages_say_of_the_same_why_something_is_not_timed(self):
        modules = {each.family: contenders.family_module(each.family)
                   for each in Library(LIBRARY).operations().values()}
        modules.update((each.group, contenders.stage_module(each.group)) for each in OURS)
        asked = [name for name in modules if hasattr(modules[name], "why_not_timed")]
        self.assertLessEqual({"gemm", OF_PRODUCTS, stage_with("attention")}, set(asked))
        for name in asked:
            parameters = inspect.signature(modules[name].why_not_timed).parameters
            self.assertEqual([each.lstrip("_") for each in parameters],
                             ["name", "shape", "dtype", "shapes_given"], name)

    def test_a_stage_says_where_a_variant_of_its_own_takes_too_long(self):
        def reason(name, sizes, given=False):
            stage = contenders.stage_module(stage_with(name))
            return stage.why_not_timed(f"{stage_with(name)}/{name}", Shape(sizes), "float16", given)

        small, large = (32, 12, 384, 384, 64), (4, 16, 8192, 8192, 128)
        self.assertEqual(reason("query_per_block", small), "")
        self.assertEqual(reason("query_per_block", large, True), "")
        self.assertEqual(reason("attention_mma", large), "")
        self.assertIn("second", reason("query_per_block", large))
        slow = types.SimpleNamespace(why_not_timed=lambda name, *_: "slow" * (name == PLAIN_CALL))
        with mock.patch.object(peers, "stage_module", return_value=slow):
            _, printed, _ = Run.run_peers(self, PLAIN, "--shape", "2x33")
        self.assertIn(f"left out: {PLAIN_CALL} (softmax 2 x 33): slow", printed)

    def test_a_family_may_say_who_takes_part_and_leave_the_rest_to_the_course(self):
        library = Library(LIBRARY)
        operations = {name: each for name, each in library.operations().items()
                      if each.family == "transpose"}
        options = peers.parse_arguments(["--library", LIBRARY, "--dtype", "float16"])
        self.assertEqual(peers.timed_operations(operations, options), operations)
        self.assertEqual(set(peers.works_of(library, operations, [], options)),
                         {(name, "float16", Shape((1, 256, 512)))
                          for name in operations})
        self.assertEqual(peers.legends_of(operations), [peers_report.LEGEND])

    def test_lists_are_timed_at_every_shape_that_has_a_bar(self):
        library = Library(LIBRARY)
        known = library.operations()
        operations = {name: known[name] for name in ("softmax_topk", "topk_of_softmax")}
        options = peers.parse_arguments(["--library", LIBRARY])
        timed = peers.timed_operations(operations, options)
        self.assertEqual(list(timed), ["softmax_topk"])
        self.assertEqual(peers.timed_operations({"sample_token": known["sample_token"]}, options),
                         {})
        works = peers.works_of(library, timed, [], options)
        self.assertEqual(len(works), len(set(works)))
        (path,) = (ROOT / OF_LISTS).glob("expected/bars.json")
        bars = json.loads(path.read_text())
        for bar in (bar for group in bars for bar in group["bars"]):
            shape = peers.parse_shape(bar["shape"])
            self.assertIn(("softmax_topk", "float32", shape), works)
        quick = peers.works_of(library, timed, [], peers.parse_arguments(
            ["--library", LIBRARY, "--quick"]))
        self.assertLess(set(quick), set(works))
        self.assertEqual(peers.legends_of(timed), [peers_report.LEGEND])

    def test_lists_in_torch_are_compiled_once_for_each_width(self):
        torch = topk.TopkInTorch()
        known = Library(LIBRARY).operations()
        self.assertEqual(set(torch.functions()),
                         {name for name, each in known.items() if each.family == "topk"})

        def why(rows, cols, k, of=torch):
            shape = Shape((rows, cols), (("k", float(k)),))
            return of.why_not_compiled("softmax_topk", shape.problem(known["softmax_topk"], "float32"))
        self.assertEqual(why(4000, 128256, 5), "")
        self.assertIn("shortest list", why(4000, 128256, 32))
        self.assertEqual(why(32768, 128, 8), "")
        self.assertEqual(why(3, 128256, 32), "")  # none of the course's
        self.assertEqual(why(4000, 128256, 32, topk.TopkInTorch(True)), "")

    def test_an_encoder_elsewhere_has_the_operations_parameters_and_no_other(self):
        library = Library(LIBRARY)
        self.assertEqual(set(encoder.EncoderInTransformers().functions()),
                         set(encoder.TIMED_OPERATIONS))
        self.assertLess(set(encoder.TIMED_OPERATIONS),
                        {name for name, each in library.operations().items()
                         if each.family == "encoder"})
        self.assertEqual({name.removesuffix("_in_graph")
                          for name in encoder.OursInGraphs(library).names("encoder")},
                         {each.variant for each in OURS if each.operation == "encoder"})

        class Part:  # of a tensor: what it was taken from, and how
            def __init__(self, *way):
                self.way, self.shape = way, (8,)

            def __getitem__(self, at):
                return Part(*self.way, (at.start, at.stop) if isinstance(at, slice) else at)

        problem = contenders.Shape((2, 3, 2, 4), (("layers", 2.0),)).problem(
            library.operations()["encoder"], "float32")
        parameters = [each.name for each in library.describe("encoder", problem)
                      if each.role == "in"][2:]
        state = encoder.state_of({name: Part(name) for name in parameters}, 2)
        self.assertEqual(len(state), 2 * 16)
        self.assertEqual({part.way[0] for part in state.values()}, set(parameters))
        self.assertEqual(state["layer.1.attention.self.key.weight"].way, ("qkv_weight", 1, (8, 16)))
        self.assertEqual(state["layer.0.output.LayerNorm.bias"].way, ("feed_forward_beta", 0))

    def test_without_a_module_the_course_says_what_is_timed(self):
        library = Library(LIBRARY)
        operations = {"softmax": library.operations()["softmax"]}
        options = peers.parse_arguments(["--library", LIBRARY, "--dtype", "float16"])
        with mock.patch.object(peers, "family_module", return_value=None):
            self.assertEqual(peers.timed_operations(operations, options), operations)
            self.assertEqual(peers.works_of(library, operations, [], options),
                             [("softmax", "float16", Shape((256, 1024)))])
            self.assertEqual(peers.legends_of(operations), [peers_report.LEGEND])


class InAndOut(unittest.TestCase):
    def test_what_is_read_and_written_is_as_before_whenever_a_contender_is_judged(self):
        library = Library(LIBRARY)
        problem = Shape((1, 2, 3, 4), (("beta", 0.5),)).problem(
            library.operations()["batched_gemm"], "float32")
        tensors = contenders.Tensors(library, library.operations()["batched_gemm"], problem)
        name = f"{OF_PRODUCTS}/naive"
        contender = contenders.Contender(
            name, "ours", OF_PRODUCTS, "batched_gemm",
            lambda stream: library.call(name, problem, tensors.pointers()))
        for _ in range(2):
            self.assertLess(peers.judge(library, contender, tensors), 1e-5)
        contender.run(None)  # on its own result
        contender.produce = lambda: None
        with self.assertRaises(peers.WrongResult):
            peers.judge(library, contender, tensors)


def name_of(function, tile="", epilogue="Plain"):
    """As the profiler has it."""
    arguments = f"<__half, {f'weave::{tile}, ' if tile else ''}weave::{epilogue}<__half, (weave::Finish)1>, 3>"
    return f"void weave::{function}{arguments}(weave::Problem<__half, 2>, weave::{epilogue}<__half, (weave::Finish)1>)"


PRODUCT, NORM = name_of("product_kernel", "Tile<128, 2, true>"), name_of("norm_kernel")
NARROW = name_of("product_kernel", "Tile<64, 2, true>", "Gelu")


def trace_of(names, replays=timeline.REPLAYS):
    """As the profiler exports one. Each kernel takes 10 us more than the one before and 1 us more in each other
    replay, and begins 4 us before the one before it ends."""
    events = [{"ph": "X", "cat": "gpu_memset", "name": "Memset", "ts": 0, "dur": 1}]
    for replay in range(replays):
        end = 1000.0 * replay
        for name in names:
            begin, end = end - 4, end + 10 + replay % 2
            events.append({"ph": "X", "cat": "kernel", "name": name, "ts": begin, "dur": end - begin,
                           "args": {"grid": [64, 2, 1], "block": [384, 1, 1]}})
    return {"traceEvents": events[::-1]}  # in no order


class Timeline(unittest.TestCase):
    def test_a_layer_of_a_trace(self):
        first = name_of("round_kernel")
        layer = [PRODUCT, NORM, NARROW, NORM]  # the norm alone would have a period of two
        kernels = timeline.kernels_in(trace_of([first, *4 * layer]))
        replays = timeline.replays_in(kernels, timeline.REPLAYS)
        self.assertEqual(timeline.middle_layers([each.name for each in replays[0]]), (4, [5, 9]))
        found = timeline.layer_in(replays)
        self.assertEqual([(each["name"], each["begin_us"], each["end_us"]) for each in found], [
            ("product_kernel Tile<128, 2, true>", -4, 10.5), ("norm_kernel", 6.5, 21),
            ("product_kernel Tile<64, 2, true>", 17, 31.5), ("norm_kernel", 27.5, 42)])
        self.assertEqual((found[0]["grid"], found[0]["block"]), ("(64, 2, 1)", "(384, 1, 1)"))

    def test_where_layers_begin(self):
        a, b, c, d = "abcd"
        for names, expected in (([a, b, c] * 5, (3, [3, 6, 9])),
                                ([d] + [a, b, c] * 5, (3, [4, 7, 10])),
                                ([a, b, c] * 5 + [d], (3, [3, 6, 9])),
                                ([d, b, c] + [a, b, c] * 4 + [a, b, d], (3, [3, 6, 9, 12])),
                                ([a, a, a, b] * 4, (4, [4, 8]))):
            self.assertEqual(timeline.middle_layers(names), expected, names)
        for names in ([a, b, c, d], [a, b] * 2, [a] * 3 + [b, c, d, "e", "f"], []):
            with self.assertRaisesRegex(timeline.TimelineError, "no period"):
                timeline.middle_layers(names)

    def test_replays_that_differ(self):
        kernels = timeline.kernels_in(trace_of([PRODUCT, NORM]))
        with self.assertRaisesRegex(timeline.TimelineError, "19 kernels were recorded in 10 replays"):
            timeline.replays_in(kernels[1:], 10)
        with self.assertRaisesRegex(timeline.TimelineError, "no kernels"):
            timeline.replays_in([], 10)

    def test_short_names(self):
        for name, short in ((NARROW, "product_kernel Tile<64, 2, true>"), (NORM, "norm_kernel"),
                            ("void a::k<a::Tile<(int)192>, a::Tile<2> >(int)", "k Tile<(int)192>"),
                            ("(anonymous namespace)::plain(float const*, int)", "plain"),
                            ("void (anonymous namespace)::k<4>(int)", "k"),
                            ("sm90_xmma_gemm_f16", "sm90_xmma_gemm_f16")):
            self.assertEqual(timeline.short_name(name), short)

    def run_timeline(self, *words, names=3 * (PRODUCT, NORM)):
        """Status, what was printed, and the records, of a made-up trace."""
        tracer = types.SimpleNamespace(versions=lambda: {"torch": "2.11"},
                                       trace=lambda contender, tensors: trace_of(names))
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            options = timeline.parse_arguments(["--library", LIBRARY, "--out", folder, *words])
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                status = timeline.run(Library(LIBRARY), options, tracer)
            files = {path.name: path.read_text() for path in Path(folder).iterdir()}
        return status, said.getvalue(), files

    def test_records(self):
        words = (PLAIN, "--variant", "block_per_row", "--shape", "2x33", "--dtype", "float32")
        status, _, files = self.run_timeline(*words, "--shape", "2x35")
        self.assertEqual((status, list(files)), (0, [PLAIN + ".timeline.json"]))
        text = files[PLAIN + ".timeline.json"]
        self.assertEqual(text.count("\n"), 4)  # a record a line
        document = json.loads(text)
        self.assertEqual((document["schema"], document["torch"]), (1, "2.11"))
        first, second = document["records"]
        self.assertEqual((first["stage"], first["variant"], first["role"], first["op"]),
                         (PLAIN, "block_per_row", "ours", "softmax"))
        self.assertEqual((first["shape"], second["shape"]),
                         ({"rows": 2, "cols": 33}, {"rows": 2, "cols": 35}))
        self.assertEqual([each["name"] for each in first["kernels"]],
                         ["product_kernel Tile<128, 2, true>", "norm_kernel"])
        self.assertNotIn("us_median", first)

    def test_what_cannot_be_traced_is_said(self):
        words = (PLAIN, "--shape", "2x33", "--variant")
        status, said, files = self.run_timeline(*words, "nothing_like_it")
        self.assertEqual((status, files), (2, {}))
        self.assertIn(f"{PLAIN} has no variant nothing_like_it; it has: block_per_row", said)
        status, said, files = self.run_timeline(*words, "block_per_row", names=[PRODUCT, NORM])
        self.assertEqual((status, files), (1, {}))
        self.assertIn("block_per_row, 2 x 33 float32: the names of the 2 kernels have no period", said)
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            self.assertEqual(timeline.main(["--library", LIBRARY, *words, "block_per_row"]), 77)
        self.assertIn("timeline: it needs a GPU", printed.getvalue())


class CommandLine(unittest.TestCase):
    def test_on_the_cpu_device_all_peers_are_left_out(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(peers.main(["--library", LIBRARY]), 0)
        self.assertIn("they need a GPU", said.getvalue())

    def test_the_clock_needs_a_gpu(self):
        with self.assertRaises(StagesError) as caught:
            library = Library(LIBRARY)
            problem = Problem("float32", {"rows": 2, "cols": 3})
            tensors = contenders.Tensors(library, library.operations()["softmax"], problem)
            library.time([lambda stream: None], "softmax", problem, tensors.pointers())
        self.assertEqual(caught.exception.code, 801)

    def test_shapes_of_a_stage(self):
        library = Library(LIBRARY)

        def works(*words, stages=(OF_MASKS,), names=("softmax", "log_softmax")):
            options = peers.parse_arguments(["--library", LIBRARY, *words])
            operations = {name: library.operations()[name] for name in names}
            return peers.works_of(library, operations, stages, options)
        scores = ("softmax", "float32", Shape((1048576, 512)))
        self.assertIn(scores, works())
        self.assertIn(("softmax", "float16", Shape((32768, 16))), works("--dtype", "float16"))
        self.assertNotIn(("log_softmax", *scores[1:]), works())
        for dtype in ("float16", "bfloat16"):
            self.assertIn(("softmax", dtype, Shape((49152, 1024))), works())
        self.assertNotIn(("softmax", "float16", Shape((49152, 1024))), works("--dtype", "float32"))
        self.assertNotIn(scores, works("--quick"))
        self.assertEqual(works("--shape", "3x5", names=["softmax"]),
                         [("softmax", "float32", Shape((3, 5)))])
        self.assertNotIn(scores, works(stages=[OF_LOGARITHMS]))

    def test_torture_says_whose_results_are_wrong_and_on_which_input(self):
        def tortured(*words):
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = torture.main([OF_LISTS, "--library", LIBRARY, *words])
            return status, output.getvalue()

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "torture.json")
            status, output = tortured("--operation", "softmax_topk", "--shape", "5x300,k=4", "--out", str(file))
            verdicts = json.loads(file.read_text())["verdicts"]
        self.assertEqual(status, 0, output)
        wrong = {(each["contender"], each["input"]) for each in verdicts if each["verdict"] == torture.WRONG}
        # Which of several equal elements come first is as the threads happen to lie, and an index can be missing.
        self.assertIn(("nvidia_online_softmax/online_topk", "ties"), wrong)
        self.assertIn(("nvidia_online_softmax/online_topk", "few_left"), wrong)
        self.assertNotIn(("nvidia_online_softmax/online_topk", "distinct"), wrong)
        ours = [each for each in verdicts if each["role"] == "ours"]
        self.assertGreater(len([each for each in ours if each["verdict"] == torture.RIGHT]), 50)
        self.assertFalse([each for each in ours if each["verdict"] == torture.WRONG])
        self.assertEqual(tortured("--operation", "nonsense", "--shape", "5x300")[0], 2)
        status, output = tortured("--operation", "softmax_topk", "--shape", "5x300x2")
        self.assertEqual(status, 2)
        self.assertIn("torture: ", output)

    def test_shapes(self):
        shapes = softmax.course_shapes()
        self.assertEqual(len(shapes), len(set(shapes)))
        for wanted in ((4000, 1008), (4000, 129024), (10, 1032192), (10, 1000000), (4000, 128256)):
            self.assertIn(wanted, shapes)
        self.assertEqual(peers.parse_shape("4000x1000"), Shape((4000, 1000)))
        with_option = peers.parse_shape("4x128256,k=5,sorted")
        self.assertEqual(with_option, Shape((4, 128256), (("k", 5.0), ("sorted", 1.0))))
        self.assertEqual(str(with_option), "4 x 128256 k=5 sorted=1")
        for bad in ("", "x", "0x5", "-1x5", "4x", "4xx5", "4x5,k=many"):
            with self.assertRaises(peers.argparse.ArgumentTypeError):
                peers.parse_shape(bad)


if __name__ == "__main__":
    unittest.main()
