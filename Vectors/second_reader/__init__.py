"""A second reader of Vauban's formats, written from the documents in Specs and not from the Swift sources."""


class Refused(Exception):
    """Bytes that are not of the format. The text is the failure as the vectors name it."""


def require(condition, failure):
    if not condition:
        raise Refused(failure)
