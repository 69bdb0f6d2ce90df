"""What every room needs and no paper mentions: threads, compiling, memory limits, files that appear whole, stopping."""
