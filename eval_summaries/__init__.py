"""The command `eval_summaries`: score folders or files of summaries and compare systems."""
