"""The commands of `grouser`, one file each, loaded only when called."""
