"""SummScreen's content selector: the part of a transcript that its recap is about, for a model to learn from.

Chen et al. (2022), section 4.3: for each sentence of the recap the lines that are most like it, with the lines around
them. The recap is needed, so what a model makes of this is an upper bound for a selector that has to guess.
"""

from collections.abc import Sequence

from .nearest import Index


def select(
    transcript: Sequence[str], reference: Sequence[str], nearest: int = 3, context: int = 2, by: str = "bm25"
) -> list[int]:
    """Numbers of the lines that are kept, in the order of the transcript.

    Args:
        transcript: its lines.
        reference: the sentences of the recap.
        nearest: lines for each of them.
        context: lines that are kept before and after each.
        by: "bm25" or "rouge".

    >>> select(["RAJ: Hm.", "RAJ: Hello.", "AMY: The bridge is closed.", "RAJ: So?"], ["The bridge closed."], 1, 1)
    [1, 2, 3]
    """
    index = Index(transcript, by)
    kept: set[int] = set()
    for sentence in reference:
        for number in index.nearest(sentence, nearest):
            kept.update(range(max(0, number - context), min(len(transcript), number + context + 1)))
    return sorted(kept)
