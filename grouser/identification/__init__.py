"""Parameters of machines and worlds fitted to measurements by nonlinear least squares.

`reading` makes an `Identification` of a file, `identification` carries it out. The estimation itself (`derivatives`,
`searching`, `statistics`) knows residuals as functions of variables from 0 to 1 and nothing of simulations.
"""
