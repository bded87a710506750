"""Players trained on recorded games: behavioural cloning, and the program that plays.

PyTorch is loaded only for training: `pip install balrog_rag[learn]`. A trained player runs in NumPy.
"""
