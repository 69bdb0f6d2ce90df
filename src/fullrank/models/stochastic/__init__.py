"""What stochastic gradient descent shares: rates, passes over users in batches, sampled items."""
