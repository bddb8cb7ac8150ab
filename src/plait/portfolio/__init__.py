"""From options to a result: which engines run, in processes of their own, and what they say."""
