"""The main job: compare recommenders on somebody's feedback, tune them, and say what can be trusted."""
