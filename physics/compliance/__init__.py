"""Elastic connections: loop joints with springs, spring laws of joints, links split into rigid elements.

After Augustynek, "Modelling of joints in mechanisms by means of spring elements" (2011), and Wittbrodt, Adamiec-Wojcik
and Wojciech, Dynamics of Flexible Multibody Systems: Rigid Finite Element Method (2006).
"""
