"""Running a feature: from variables to an answer that meets the contract.

drive ── converse ── rendering, attempts, tools, repair: one logic for `run` and `arun`
  │         └── chat, responses, messages: the wire formats
  └── transport: the vendors' clients, bounded in time and size
"""
