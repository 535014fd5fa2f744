"""The stages of the flow as Dagster assets: each calls one function of the library and tells what it did."""
