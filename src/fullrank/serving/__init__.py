"""A model behind HTTP, the feedback it gets, and studies: the loop from lists to better lists."""
