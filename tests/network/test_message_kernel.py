"""The fused message kernel: exactly the torch path, on every processor, or a clear way out."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import example, given, settings
from message_cases import SHAPES, MessageCase, Shape, by_definition, gradients, make_case
from torch import Tensor

from gnarl_runtime.network.fused import kernel_library, message_build
from gnarl_runtime.network.fused.message_build import (
    VARIANTS,
    BuildError,
    Variant,
    load_library,
    usable_variants,
)
from gnarl_runtime.network.fused.message_kernel import fused_messages
from gnarl_runtime.network.fused.pooled_kernel import fused_distances, fused_largest
from gnarl_runtime.network.messages import choose_messages, requested_kernel
from gnarl_runtime.network.messages_torch import torch_messages
from gnarl_runtime.network.segments import SegmentMax

NAMES = [variant.name for variant in usable_variants()]
HAS_COMPILER = not isinstance(kernel_library.library(), str)
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="no C compiler")
ONE_CASE = Shape(9, 80, 4, 64, "max", 2, 5)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def assert_close(found: Tensor, wanted: Tensor, tolerance: float) -> None:
    """Equal up to a share of the largest number."""
    scale = float(wanted.detach().abs().max()) if wanted.numel() else 0.0
    torch.testing.assert_close(found, wanted, rtol=0.0, atol=tolerance * max(scale, 1.0))


# Values and gradients


@needs_compiler
@pytest.mark.parametrize("variant", NAMES)
@settings(max_examples=60)
@given(shape=SHAPES)
@example(shape=replace(ONE_CASE, messages=0))
@example(shape=replace(ONE_CASE, nodes=1, messages=1))
@example(shape=replace(ONE_CASE, columns=9, depth=3))
def test_same_values_and_gradients_as_torch(variant: str, shape: Shape) -> None:
    case = make_case(shape)
    wanted = torch_messages(case.projected, case.weights, case.graphs)
    found = fused_messages(case.projected, case.weights, case.graphs, variant)
    assert_close(found, wanted, 2e-6)
    for ours, theirs in zip(gradients(case, found), gradients(case, wanted), strict=True):
        assert_close(ours, theirs, 1e-5)


@needs_compiler
@pytest.mark.parametrize("variant", NAMES)
@settings(max_examples=40)
@given(shape=SHAPES)
def test_ties_go_to_the_first_message(variant: str, shape: Shape) -> None:
    """Sums of small whole numbers are exact, so both ways see the same ties: equal to the bit."""
    case = make_case(shape, whole=True)
    wanted = torch_messages(case.projected, case.weights, case.graphs)
    found = fused_messages(case.projected, case.weights, case.graphs, variant)
    assert torch.equal(found, wanted)
    for ours, theirs in zip(gradients(case, found), gradients(case, wanted), strict=True):
        assert torch.equal(ours, theirs)


@settings(max_examples=40)
@given(shape=SHAPES)
def test_torch_path_against_the_definition(shape: Shape) -> None:
    case = make_case(shape)
    found = torch_messages(case.projected, case.weights, case.graphs)
    assert_close(found.double(), by_definition(case), 2e-6)


@needs_compiler
def test_long_sums_stay_precise() -> None:
    """Weights collect 60,000 slopes; as close to double precision as torch is, or nearly."""
    case = make_case(Shape(6000, 60_000, 5, 32, "sum", 2, 0))
    double = torch_gradients_in_double(case)
    found = gradients(case, fused_messages(case.projected, case.weights, case.graphs))
    for ours, wanted in zip(found, double, strict=True):
        assert_close(ours.double(), wanted, 3e-6)


def torch_gradients_in_double(case: MessageCase) -> list[Tensor]:
    weights = replace(case.weights, edge=case.weights.edge.detach().double().requires_grad_())
    graphs = replace(case.graphs, edge_raw=case.graphs.edge_raw.double())
    exact = MessageCase(graphs, weights, case.projected.detach().double().requires_grad_())
    return gradients(exact, torch_messages(exact.projected, exact.weights, exact.graphs))


@needs_compiler
@pytest.mark.parametrize(
    "shape",
    [
        Shape(300, 21_000, 5, 64, "max", 3, 1),
        Shape(700, 30_000, 2, 64, "max", 2, 2),
        Shape(60, 30_000, 9, 32, "max", 2, 3),
        Shape(300, 30_000, 4, 64, "sum", 1, 4),
        Shape(300, 30_000, 4, 96, "sum", 2, 5),
        Shape(1, 30_000, 4, 64, "max", 2, 6),  # of which one thread gets all
    ],
)
def test_same_bits_every_time_whatever_the_threads(shape: Shape) -> None:
    case, runs = make_case(shape), []
    try:
        for threads in (1, 2, 3, 7, 1):
            kernel_library.share_messages(threads)
            assert kernel_library.loaded().threads == threads
            heard = fused_messages(case.projected, case.weights, case.graphs)
            with torch.inference_mode():
                played = fused_messages(case.projected, case.weights, case.graphs)
            runs.append([heard, played, *gradients(case, heard)])
    finally:
        kernel_library.share_messages(1)
    for again in runs[1:]:
        assert all(torch.equal(one, two) for one, two in zip(runs[0], again, strict=True))


@needs_compiler
def test_nothing_is_kept_where_no_gradient_is_wanted() -> None:
    case = make_case(ONE_CASE)
    wanted = fused_messages(case.projected, case.weights, case.graphs)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            found = fused_messages(case.projected, case.weights, case.graphs)
        assert found.grad_fn is None
        assert torch.equal(found, wanted)


@needs_compiler
@pytest.mark.parametrize("variant", NAMES)
def test_numbers_that_are_none_are_not_hidden(variant: str) -> None:
    """A network that has diverged must look like it."""
    case = make_case(ONE_CASE)
    with torch.no_grad():
        case.projected[:] = torch.nan
        found = fused_messages(case.projected, case.weights, case.graphs, variant)
    heard = case.graphs.rowptr.diff() > 0
    assert found[heard].isnan().all()


@needs_compiler
def test_a_second_derivative_is_refused() -> None:
    case = make_case(ONE_CASE)
    heard = fused_messages(case.projected, case.weights, case.graphs)
    with pytest.raises(RuntimeError, match="differentiated twice; likely fix: set GNARL_KERNEL"):
        torch.autograd.grad(heard.sum(), case.projected, create_graph=True)
    best = fused_largest(case.projected, torch.tensor([0, 4, 9]))
    with pytest.raises(RuntimeError, match="differentiated twice"):
        torch.autograd.grad(best.sum(), case.projected, create_graph=True)


@needs_compiler
def test_largest_of_segments() -> None:
    """As the torch path, with ties and an empty segment."""
    values = torch.randint(0, 3, (40, 32)).float().requires_grad_()
    offsets = torch.tensor([0, 7, 7, 39, 40])
    segment = torch.repeat_interleave(torch.arange(4), offsets.diff())
    ours, theirs = fused_largest(values, offsets), SegmentMax.apply(values, segment, offsets)
    assert torch.equal(ours, theirs)
    slopes = torch.randn(4, 32)
    (one,) = torch.autograd.grad(ours, values, slopes)
    (two,) = torch.autograd.grad(theirs, values, slopes)
    assert torch.equal(one, two)


@needs_compiler
def test_distances_to_a_point_of_the_segment() -> None:
    """As torch, and finite where a row is its point."""
    rows = torch.randn(40, 32)
    points, offsets = torch.randn(4, 32).requires_grad_(), torch.tensor([0, 7, 7, 39, 40])
    rows[39] = points[3].detach()
    rows.requires_grad_()
    segment = torch.repeat_interleave(torch.arange(4), offsets.diff())
    ours = fused_distances(rows, points, offsets, 1e-12)
    theirs = (rows - points[segment]).square().sum(1).add(1e-12).sqrt()
    assert_close(ours, theirs, 1e-6)
    slopes = torch.randn(40)
    for one, two in zip(
        torch.autograd.grad(ours, [rows, points], slopes),
        torch.autograd.grad(theirs, [rows, points], slopes),
        strict=True,
    ):
        assert_close(one, two, 1e-6)


# Which way is taken


def test_choice_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GNARL_KERNEL", raising=False)
    assert requested_kernel() == "auto"
    for name in ("torch", "fused"):
        monkeypatch.setenv("GNARL_KERNEL", name)
        assert requested_kernel() == name
    monkeypatch.setenv("GNARL_KERNEL", "cuda")
    wanted = "GNARL_KERNEL: expected auto or torch or fused, found 'cuda'"
    with pytest.raises(ValueError, match=wanted):
        requested_kernel()


def test_choice_by_what_is_possible() -> None:
    fits, odd = torch.zeros(3, 128), torch.zeros(3, 40)
    assert choose_messages("torch", fits) is torch_messages
    assert choose_messages("auto", odd) is torch_messages
    assert choose_messages("auto", fits.double()) is torch_messages
    if HAS_COMPILER:
        assert choose_messages("auto", fits) is fused_messages
    with pytest.raises(RuntimeError, match="a multiple of 32, found 20"):
        choose_messages("fused", odd)
    with pytest.raises(RuntimeError, match="reads float32"):
        choose_messages("fused", fits.double())
    with pytest.raises(RuntimeError, match="on the CPU, the policy is on meta"):
        choose_messages("fused", fits.to("meta"))


@pytest.fixture
def _fresh_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A process that has not looked for the kernel yet, with an empty cache."""
    monkeypatch.setenv("GNARL_CACHE", str(tmp_path / "cache"))
    kernel_library._library.cache_clear()
    kernel_library.notice.cache_clear()
    yield
    kernel_library._library.cache_clear()
    kernel_library.notice.cache_clear()


@pytest.mark.usefixtures("_fresh_library")
def test_without_a_compiler_torch_is_used_and_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)
    for _ in range(3):
        assert choose_messages("auto", torch.zeros(3, 128)) is torch_messages
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("gnarl: there is no C compiler (looked for cc, gcc, clang); messages")
    with pytest.raises(RuntimeError, match="GNARL_KERNEL=fused: there is no C compiler"):
        choose_messages("fused", torch.zeros(3, 128))


@pytest.mark.usefixtures("_fresh_library")
def test_a_compiler_that_fails_is_no_catastrophe(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "mycc"
    broken.write_text("#!/bin/sh\necho 'internal error: no luck' >&2\nexit 1\n")
    broken.chmod(0o700)
    monkeypatch.setenv("CC", str(broken))
    assert choose_messages("auto", torch.zeros(3, 128)) is torch_messages
    assert "could not compile the message kernel: internal error" in capsys.readouterr().err


# Building and keeping it

QUICK = Variant("quick", frozenset(), ("-O0",))  # compiles in a moment
BUILD = """
import sys
from pathlib import Path
from gnarl_runtime.network.fused.message_build import Variant, load_library
load_library(Variant("quick", frozenset(), ("-O0",)), Path(sys.argv[1])).hear
"""


@needs_compiler
def test_the_library_is_kept_in_a_private_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "kernels"
    load_library(QUICK, folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (library,) = folder.iterdir()
    before = library.stat()
    load_library(QUICK, folder)
    assert list(folder.iterdir()) == [library]
    assert library.stat().st_mtime_ns == before.st_mtime_ns


@needs_compiler
def test_other_flags_or_compiler_give_another_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kernels"
    load_library(QUICK, folder)
    load_library(replace(QUICK, flags=("-O0", "-DOTHER")), folder)
    assert len(list(folder.iterdir())) == 2
    compiler = tmp_path / "mycc"
    compiler.write_text(f'#!/bin/sh\nexec {message_build.find_compiler()} "$@"\n')
    compiler.chmod(0o700)
    monkeypatch.setenv("CC", str(compiler))
    load_library(QUICK, folder)
    assert len(list(folder.iterdir())) == 3


@needs_compiler
def test_a_damaged_library_is_built_again(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    command = [sys.executable, "-c", BUILD, str(folder)]
    subprocess.run(command, check=True)
    (library,) = folder.iterdir()
    whole = library.read_bytes()
    library.write_bytes(whole[:100])
    subprocess.run(command, check=True)
    assert len(library.read_bytes()) == len(whole)


@needs_compiler
def test_processes_that_build_at_once_do_not_meet(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BUILD, str(tmp_path / "kernels")]
    runs = [subprocess.Popen(command) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert len(list((tmp_path / "kernels").iterdir())) == 1


@needs_compiler
def test_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(BuildError, match="can be written by others, so what is in it"):
        load_library(QUICK, folder)


def test_a_cache_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    with pytest.raises(BuildError, match="cannot be used: Not a directory"):
        load_library(QUICK, tmp_path / "file" / "kernels")


def test_variants_follow_the_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "cpuinfo"
    told.write_text("processor : 0\nflags\t\t: fpu sse2 avx2 fma\n")
    features = message_build.processor_features(told)
    assert features == {"fpu", "sse2", "avx2", "fma"}
    assert message_build.processor_features(tmp_path / "none") == frozenset()
    monkeypatch.setattr(message_build, "processor_features", lambda: features)
    assert [variant.name for variant in usable_variants()] == ["avx2", "plain"]


def test_no_variant_is_made_for_this_machine_alone() -> None:
    flags = [flag for variant in VARIANTS for flag in variant.flags]
    assert not any("native" in flag for flag in (*flags, *message_build.COMMON_FLAGS))
