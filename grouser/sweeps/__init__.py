"""Many runs of a trial: designs, sensitivity and optimisation, on all cores or a cluster, resumable."""
