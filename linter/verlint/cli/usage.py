"""What is wrong with a call, for the user."""


class UsageError(Exception):
    """A call that cannot be carried out; the text is for the user."""
