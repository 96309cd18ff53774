"""Published and reference values of the experiments, and the comparison of results with them.

The values are data: `config/references/<experiment>.yaml`, and CSV files beside them. No experiment reads them.
"""
