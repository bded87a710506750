"""Players learnt from recorded games: behavioural cloning, and the program that plays what was learnt.

PyTorch is loaded only where something is learnt: `pip install balrog_rag[learn]`. What was learnt plays in
NumPy.
"""
