"""Items valued against what else is offered: opportunity cost, sessions, choices, contexts."""
