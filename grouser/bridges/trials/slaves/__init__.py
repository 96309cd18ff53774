"""Scripts of the FMUs of trials: `fmu.build` packs each into an FMU; they import nothing of grouser's packages."""
