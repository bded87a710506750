"""Players learnt from recorded games: behavioural cloning, and the program that plays what was learnt.

PyTorch is loaded only where something is learnt or played: `pip install balrog_rag[learn]`.
"""
