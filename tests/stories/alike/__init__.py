"""Two wordings of one thing, and of two things that are easily taken for one.

troubles.txt   two reports of a trouble, in the words of a model's key
keys.txt       two facts of a person, as a model proposes them, under two keys
"""
