"""How replies are read: one module per form of answer, pure functions of the text.

Each reads a text of n characters in time proportional to n, raises nothing, and returns either a
score inside its range, four decimals, or a `Reason`.
"""
