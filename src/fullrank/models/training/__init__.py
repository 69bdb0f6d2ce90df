"""Training in rounds: the loop, its state, its checkpoints."""
