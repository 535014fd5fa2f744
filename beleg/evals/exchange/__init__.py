"""To and from other tools: answers that were given elsewhere come in, cases go out.

take ── rows: what every reader makes of its file
  │  ├── csvfile, inspectlog, promptfoo, deepeval: the readers
  │  └── scored like answers of a run, kept in the same journal
give ── cases as Inspect, promptfoo and Langfuse read them
"""
