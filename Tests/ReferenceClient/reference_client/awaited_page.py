"""The page of the history that the option of `connect` asks for, until it has arrived (HIS-5)."""


class AwaitedPage:
    def __init__(self):
        self._id = None
        self._members = None

    def connected(self, message, option):
        """The answer to the option comes with the id of the connect, if this client may read a history."""
        if option is None or not message.history:
            self._id = None
            return
        self._id = message.id
        self._members = {"limit" if name == "last" else name: value for name, value in option.items()}

    def takes(self, id):
        """Whether an answer with this id is the page. It then waits for no other."""
        if self._id is None or id != self._id:
            return False
        self._id = None
        return True

    @property
    def is_missing(self):
        return self._id is not None

    def request(self, id):
        """The request that takes the option's part after `resumed`, for which the server ignores the option."""
        self._id = id
        return {"op": "history", "id": id, **self._members}
