"""Pages of runs, calls, models and money: for leads."""
