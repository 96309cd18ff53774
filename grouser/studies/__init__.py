"""Systems that only experiments use: attitude bodies, friction systems, servo loops."""
