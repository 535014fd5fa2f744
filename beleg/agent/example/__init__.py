"""A whole agent as a recipe: 102 tools in 14 modules for freelancers, companies and tax advisers."""
