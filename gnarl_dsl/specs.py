"""Where the shipped specs are: beside the package in a checkout, inside it when installed."""

from __future__ import annotations

from pathlib import Path

# Of CLRS-30, but in another folder.
_ELSEWHERE = (
    *("bellman_ford", "bfs", "dfs", "dijkstra", "mst_kruskal", "mst_prim", "topological_sort"),
)


def specs_folder() -> Path:
    inside = Path(__file__).parent / "specs"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "specs"


def gallery_folder() -> Path:
    return specs_folder() / "gallery"


def clrs_folder() -> Path:
    return specs_folder() / "clrs"


def variants_folder() -> Path:
    return specs_folder() / "variants"


def find_spec(name: str) -> Path | None:
    """The shipped spec of that name, if there is one."""
    for folder in (specs_folder(), gallery_folder(), clrs_folder(), variants_folder()):
        path = folder / f"{name}.gnarl"
        if path.is_file():
            return path
    return None


def paper_specs() -> list[Path]:
    """The specs of the paper's problems."""
    return sorted(specs_folder().glob("*.gnarl"))


def gallery_specs() -> list[Path]:
    """Further specs, which show what else the language can say (docs/gallery.md)."""
    return sorted(gallery_folder().glob("*.gnarl"))


def clrs_specs() -> list[Path]:
    """The algorithms of the CLRS-30 benchmark that none of the others is (docs/clrs30.md)."""
    return sorted(clrs_folder().glob("*.gnarl"))


def clrs30_specs() -> list[Path]:
    """All thirty algorithms of CLRS-30, wherever they stand."""
    others = [path for path in (find_spec(name) for name in _ELSEWHERE) if path is not None]
    return sorted([*clrs_specs(), *others], key=lambda path: path.stem)


def variant_specs() -> list[Path]:
    """Specs that extend another for the sake of training: other experts, the same problem."""
    return sorted(variants_folder().glob("*.gnarl"))


def shipped_specs() -> list[Path]:
    """All of them, the paper's first; a name is used once."""
    return [*paper_specs(), *gallery_specs(), *clrs_specs(), *variant_specs()]
