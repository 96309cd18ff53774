"""Dry friction with a static and a kinetic level."""

from grouser.physics.kernel import kernel


@kernel
def holding_level(static, kinetic, sliding):
    """Largest friction force [N or N m]: the static level at rest, the kinetic one while sliding (Coulomb)."""
    return kinetic if sliding else static
