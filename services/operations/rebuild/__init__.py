"""Rebuild: the projections made again from the stored events, next to the live tables, and swapped in.

No model, broker or clock takes part. The deployment may go on working meanwhile.
"""
