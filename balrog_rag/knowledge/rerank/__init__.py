"""Rerankers: score query and passage together to reorder the best passages; too slow for all of them."""
