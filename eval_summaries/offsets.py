"""Where things are in a file, by their digests: a table of numbers, since a million strings and integers are large."""

from array import array


class Offsets:
    """{digest of 32 hexadecimal digits: offset}, some 50 bytes each, and which of them were used.

    A hash table with open addressing; a digest is as good as random, so its last bits are its place.

    >>> offsets = Offsets()
    >>> offsets["00" * 16] = 7
    >>> offsets.get("00" * 16), offsets.get("01" * 16), len(offsets)
    (7, None, 1)
    """

    def __init__(self):
        self._slots = array("q", [-1]) * 1024  # numbers of entries; a power of two of them
        self._high, self._low, self._offsets, self._used = array("Q"), array("Q"), array("q"), bytearray()

    def __len__(self) -> int:
        return len(self._offsets)

    def _slot(self, high: int, low: int) -> int:
        """The slot of a key: the one that holds it, or the free one where it belongs."""
        mask = len(self._slots) - 1
        slot = low & mask
        while (entry := self._slots[slot]) >= 0 and (self._low[entry] != low or self._high[entry] != high):
            slot = (slot + 1) & mask
        return slot

    def _entry(self, key: str) -> int:
        return self._slots[self._slot(int(key[:16], 16), int(key[16:], 16))]

    def __setitem__(self, key: str, offset: int) -> None:
        if len(key) != 32:
            raise ValueError(f"{key!r} is no digest")
        high, low = int(key[:16], 16), int(key[16:], 16)
        slot = self._slot(high, low)
        if self._slots[slot] >= 0:
            self._offsets[self._slots[slot]] = offset
            return
        self._slots[slot] = len(self)
        self._high.append(high)
        self._low.append(low)
        self._offsets.append(offset)
        self._used.append(0)
        if 3 * len(self) > 2 * len(self._slots):
            self._slots = array("q", [-1]) * (2 * len(self._slots))
            for entry, (high, low) in enumerate(zip(self._high, self._low, strict=True)):
                self._slots[self._slot(high, low)] = entry

    def get(self, key: str) -> int | None:
        """The offset, or None."""
        entry = self._entry(key)
        return self._offsets[entry] if entry >= 0 else None

    def use(self, key: str) -> None:
        """Remember that this key was used, where it is there."""
        if (entry := self._entry(key)) >= 0:
            self._used[entry] = 1

    def is_used(self, key: str) -> bool:
        """Whether it is there and was used."""
        entry = self._entry(key)
        return entry >= 0 and bool(self._used[entry])
