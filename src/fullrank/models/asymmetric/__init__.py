"""A person is what they did: Gaussian ranking and its rivals on asymmetric factors."""
