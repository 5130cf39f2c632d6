"""What the benchmark is: its tasks, lengths, prompts, metrics, difficulty ladder and exported record.

Plain Python. Nothing here imports Django, so that commands, workers and tests of the rules need no database.
"""
