"""What the runs cost: price book, policies, pricing in SQL, figures."""
