"""What people did: ids, interactions, graded cases, preferences; reading, splitting, simulating them."""
