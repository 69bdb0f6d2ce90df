"""A relevant item above another: BPR, and steps toward ADG and AUC."""
