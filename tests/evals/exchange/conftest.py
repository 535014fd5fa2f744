from tests.evals.scoring.conftest import house, model

__all__ = ["house", "model"]
