"""The store: Delta tables of Parquet, publications that pin their versions, the DuckDB file for analysts."""
