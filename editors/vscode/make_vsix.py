"""The folder of the extension, built, in; a .vsix that VS Code installs out.

python editors/vscode/make_vsix.py     writes editors/vscode/gnarl-VERSION.vsix

A .vsix is a zip: the extension in a folder of that name, and two files that say what it is.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

HOME = Path(__file__).resolve().parent
LICENSE = HOME.parents[1] / "LICENSE"
FILES = (
    *("package.json", "README.md", "language-configuration.json", "dist/extension.js"),
    *("syntaxes/gnarl.tmLanguage.json", "snippets/gnarl.json"),
)
TYPES = {".json": "application/json", ".js": "application/javascript", ".md": "text/markdown"}
ASSETS = {
    "Code.Manifest": "package.json",
    "Services.Content.Details": "README.md",
    "Services.Content.License": "LICENSE.txt",
}
DAY = (2020, 1, 1, 0, 0, 0)  # of every file, so that the same content is the same archive


def manifest(package: dict[str, Any]) -> str:
    """What the extension is, as its package.json says it."""
    identity = (
        f'<Identity Language="en-US" Id={quoteattr(package["name"])} '
        f"Version={quoteattr(package['version'])} Publisher={quoteattr(package['publisher'])}/>"
    )
    engine = quoteattr(package["engines"]["vscode"])
    assets = "\n".join(
        f'<Asset Type="Microsoft.VisualStudio.{kind}" Path="extension/{name}" Addressable="true"/>'
        for kind, name in ASSETS.items()
    )
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
{identity}
<DisplayName>{escape(package["displayName"])}</DisplayName>
<Description xml:space="preserve">{escape(package["description"])}</Description>
<Categories>{escape(",".join(package["categories"]))}</Categories>
<Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine}/>
<Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
</Properties>
<License>extension/LICENSE.txt</License>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
{assets}
</Assets>
</PackageManifest>
"""


def content_types() -> str:
    kinds = {**TYPES, ".txt": "text/plain", ".vsixmanifest": "text/xml"}
    lines = "".join(
        f'<Default Extension="{ending}" ContentType="{kind}"/>' for ending, kind in kinds.items()
    )
    space = "http://schemas.openxmlformats.org/package/2006/content-types"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="{space}">{lines}</Types>\n'


def make() -> Path:
    package = json.loads((HOME / "package.json").read_text("utf-8"))
    missing = [name for name in FILES if not (HOME / name).is_file()]
    if missing:
        sys.exit(f"{', '.join(missing)}: not there; run `npm ci && npm run build` in {HOME} first")
    target = HOME / f"{package['name']}-{package['version']}.vsix"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        write(archive, "extension.vsixmanifest", manifest(package))
        write(archive, "[Content_Types].xml", content_types())
        write(archive, "extension/LICENSE.txt", LICENSE.read_text("utf-8"))
        for name in FILES:
            write(archive, f"extension/{name}", (HOME / name).read_text("utf-8"))
    return target


def write(archive: zipfile.ZipFile, name: str, text: str) -> None:
    archive.writestr(zipfile.ZipInfo(name, DAY), text.encode(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    print(f"wrote {make()}")
