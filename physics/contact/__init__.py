"""Where the machine touches its world: candidate points, their distances to the ground, contacts found."""
