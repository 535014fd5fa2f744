"""Checks on what is about to be published: rules of the table contracts and sums that must agree.

rules        what is asked, read from contracts/tables
scan         one DuckDB query a table over the partitions that changed
sums         what several tables must agree on
evidence     what was found for which versions, kept in the ledger
judge        the verdict, by comparison alone
expectations the same verdict by Great Expectations, imported only where it is asked
"""
