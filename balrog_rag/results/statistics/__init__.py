"""Statistics of comparisons: intervals, permutation tests, design, and the verdict sentence.

Pure functions of numbers and a seed; nothing here reads files or depends on run folders.
"""
