"""Formats that need a parser: HTML, PDF, DOCX, EPUB, JSON. Files of these kinds are hostile until proven otherwise.

Two halves, and a process between them:

* `asking` (ours) starts a child, hands it the bytes, waits at most a minute, and puts what came back into words;
* `child` and all the other modules run in that child: no Django, no open file, no network, little memory. They know no
  language and no database: they answer a plain text, a title and remarks, or the name of a rule with its figures.

A module that the child runs imports nothing of Django and nothing of pypdf or lxml before it is needed.

The text rule, for every format: the words in the order of the file, a blank line between blocks, rows of a table on
lines with tabs between their cells, list items on lines of their own with their mark, and nothing that does not show:
scripts, styles, comments, deleted passages. No boilerplate is removed: that would be a judgement.
"""
