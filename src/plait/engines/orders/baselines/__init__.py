"""Other ways to deal with orders, to compare with: the paper's, and those that it compares with."""
