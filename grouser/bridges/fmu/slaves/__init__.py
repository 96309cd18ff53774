"""Scripts of the FMUs that come along: `build` packs each into an FMU; they import nothing of grouser's packages."""
