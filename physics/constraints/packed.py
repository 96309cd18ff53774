"""Packed rows of contacts, which have entries for the coordinates between two bodies only, on the whitened velocity."""

from grouser.physics.base.kernel import inlined, kernel


@inlined
def resists_turning(contact_rows, c):
    """Whether contact c has moments, which resist spinning or rolling."""
    return contact_rows.spinning[c] > 0.0 or contact_rows.rolling[c] > 0.0


@kernel
def add_packed(u, jacobian, index, size, x, y, z):
    """u <- u + the three packed rows times x, y, z."""
    for k in range(size):
        u[index[k]] += jacobian[k, 0] * x + jacobian[k, 1] * y + jacobian[k, 2] * z


@kernel
def add_contact(contact_rows, c, sign, u):
    """Adds the impulses of contact c and of its moments to u, times a sign."""
    index, size = contact_rows.index[c], contact_rows.size[c]
    impulse, moment = contact_rows.impulse[c], contact_rows.moment[c]
    x, y, z = sign * impulse[0], sign * impulse[1], sign * impulse[2]
    add_packed(u, contact_rows.whitened_jacobian[c], index, size, x, y, z)
    if resists_turning(contact_rows, c):
        add_packed(u, contact_rows.turning[c], index, size, sign * moment[0], sign * moment[1], sign * moment[2])
