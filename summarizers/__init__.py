"""Baselines to rank systems against: the summarizers of the papers that the metrics come from.

The command is ``baseline_summaries`` (``python -m summarizers`` is the same); docs/summarizers.md says what each one
does and when it is a fair baseline. One file holds one family, and each can be used from Python:

>>> from summarizers.extractive import lead
>>> from summarizers.lengths import Length, extract
>>> sentences = ["The river rose.", "The bridge was closed.", "Schools stayed open."]
>>> extract(lead(sentences), sentences, Length(sentences=2))
'The river rose.\\nThe bridge was closed.'
"""
