"""Meshes with the colours and pictures of their files, as browsers take them."""

from pathlib import Path

import numpy as np
import trimesh
from trimesh.visual import ColorVisuals, TextureVisuals
from trimesh.visual.material import PBRMaterial

# Formats whose colours are linear in light already, with materials of their own.
_LINEAR = (".glb", ".gltf")


def painted_glb(scene: trimesh.Scene, path: Path) -> bytes:
    """The binary glTF of a scene.

    Colours of other formats are sRGB, and dull where nothing else is said; those of glTF are linear.

    Args:
        scene: that was read; changed.
        path: its file.
    """
    if path.suffix.lower() not in _LINEAR:
        for part in scene.geometry.values():
            _make_linear(part)
    return scene.export(file_type="glb")


def _make_linear(part: trimesh.Trimesh) -> None:
    if isinstance(part.visual, TextureVisuals):
        material = part.visual.material
        dull = material if isinstance(material, PBRMaterial) else material.to_pbr()
        if dull.baseColorFactor is not None:
            dull.baseColorFactor = _linear(np.asarray(dull.baseColorFactor))
        dull.metallicFactor, dull.roughnessFactor = 0.0, 1.0
        part.visual.material = dull
    elif isinstance(part.visual, ColorVisuals) and part.visual.defined:
        part.visual.vertex_colors = _linear(part.visual.vertex_colors)


def _linear(colours: np.ndarray) -> np.ndarray:
    """sRGB colours (IEC 61966-2-1) as linear ones, 0 to 255; alpha stays."""
    shares = colours[..., :3] / 255.0
    light = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return np.concatenate([np.round(255.0 * light), colours[..., 3:]], axis=-1).astype(np.uint8)
