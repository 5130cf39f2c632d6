"""Files made by code: good ones, broken ones, hostile ones. Nothing binary is kept in the repository."""
