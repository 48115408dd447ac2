"""Stories of customers in two mails, with known answers and with models that make one plausible mistake.

told/*.txt     a language each, a story a line
story.py       a line as a story: what a faultless model proposes, and what a faulty one does
"""
