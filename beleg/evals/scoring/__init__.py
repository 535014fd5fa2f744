"""Running an evaluation: answers from candidate and baseline over the same cases, scored, kept at once.

run ── contenders: which versions answer
 │ ├── resolving: the input of a case, checked against its fingerprint before anything is called
 │ ├── receipt, tariff: what an answer took (latency, tokens, exact cost), read from its own trace
 │ ├── jury: the scorers of both contracts
 │ ├── journal: what is done already, so that a killed run is resumed; inherit: of earlier versions of the dataset
 │ └── pace, purse: requests per minute, and the budget
"""
